"""OSWorld: tasks on a real desktop, in a virtual machine or on this one."""
