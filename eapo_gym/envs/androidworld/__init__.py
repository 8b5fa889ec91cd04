"""AndroidWorld: tasks on a phone, which is a real device or the embedded one."""
