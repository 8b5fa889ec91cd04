"""AndroidWorld's own tasks on a real device, through android-env and the benchmark's package.

`hosted.py` is what the host sees; everything else runs in the interpreter that has `android_world`: `env.py` is the
environment there, `connection.py` the device (an emulator, or the embedded phone under the same code), `screen.py` what
is on it, `touch.py` what is done to it, `suite.py` the benchmark's tasks. `sdk.py` finds Android's tools, and
`inspection.py` says what is missing on this machine.
"""
