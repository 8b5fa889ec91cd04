"""The shell's commands for the system: activities, packages, settings, input, and what `dumpsys` tells."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timezone
from functools import partial
from itertools import pairwise

from eapo_gym.envs.androidworld.phone.app import App, Intent, PhoneError, Scene
from eapo_gym.envs.androidworld.phone.databases import Row
from eapo_gym.envs.androidworld.phone.dump import to_xml
from eapo_gym.envs.androidworld.phone.phone import Phone
from eapo_gym.envs.androidworld.phone.shell.file_commands import FILE_COMMANDS
from eapo_gym.envs.androidworld.phone.shell.shell import Action, Call, Said, Shell
from eapo_gym.envs.androidworld.phone.state import NAMESPACES, Activity
from eapo_gym.envs.androidworld.phone.windows import HEIGHT, WIDTH

API_LEVEL = "33"
DUMP = "/sdcard/window_dump.xml"
CONTROL, LETTER_A = (113, 114), 29
_NOT_SET = "null"
_BRING_TO_FRONT = "android.intent.category.LAUNCHER"


def shell(phone: Phone) -> Shell:
    return Shell(phone, {**FILE_COMMANDS, **SYSTEM_COMMANDS})


# Activities


def _am(call: Call) -> Said:
    action, *args = call.args or ("",)
    actions: Mapping[str, Callable[[Call], Said]] = {
        "start": _am_start,
        "start-activity": _am_start,
        "force-stop": _am_stop,
        "kill": _am_stop,
        "broadcast": _am_broadcast,
        "stack": _am_stack,
        "task": lambda call: Said(),
    }
    if action not in actions:
        return Said.problem(f"Error: unknown command '{action}'", 255)
    return actions[action](replace(call, args=tuple(args)))


def _am_start(call: Call) -> Said:
    intent, component = _intent(call)
    try:
        if component:
            package, _, name = component.partition("/")
            app = call.phone.apps.get(package)
            takes = app is not None and (intent.action or intent.data or intent.extras)
            if not (takes and call.phone.ask(replace(intent, package=package))):
                call.phone.start(package, name)
        elif not call.phone.ask(intent):
            return Said.problem(f"Error: Activity not started, unable to resolve Intent {{ act={intent.action} }}", 1)
    except PhoneError as problem:
        return Said.problem(f"Error type 3\nError: {problem}", 1)
    return Said.text(
        f"Starting: Intent {{ cmp={component or call.phone.state.front.component} }}\nStatus: ok\nComplete\n"
    )


def _intent(call: Call) -> tuple[Intent, str]:
    """The intent that the words describe, and the component that it names."""
    intent, component = Intent(), ""
    extras: dict[str, object] = {}
    words = [word for word in call.args if word]
    while words:
        word = words.pop(0)
        if word == "-a" and words:
            intent = replace(intent, action=words.pop(0))
        elif word == "-d" and words:
            intent = replace(intent, data=words.pop(0))
        elif word == "-t" and words:
            intent = replace(intent, kind=words.pop(0))
        elif word == "-n" and words:
            component = words.pop(0)
        elif word == "-p" and words:
            intent = replace(intent, package=words.pop(0))
        elif word in ("-e", "--es") and len(words) > 1:
            name, said = words.pop(0), words.pop(0)
            extras[name] = said
        elif word == "--ei" and len(words) > 1:
            name, number = words.pop(0), words.pop(0)
            extras[name] = int(number) if number.lstrip("-").isdigit() else 0
        elif word == "--ez" and len(words) > 1:
            name, said = words.pop(0), words.pop(0)
            extras[name] = said == "true"
        elif word in ("-c", "-f", "--user") and words:
            words.pop(0)
        elif not word.startswith("-") and "/" in word and not component:
            component = word
    return replace(intent, extras=extras), component


def _am_stop(call: Call) -> Said:
    _, packages = call.flags("--user")
    for package in packages:
        call.phone.stop(package)
    return Said()


def _am_broadcast(call: Call) -> Said:
    intent, component = _intent(call)
    wanted = component.partition("/")[0] or intent.package
    head = f"Broadcasting: Intent {{ act={intent.action} }}\nBroadcast completed: "
    for app in call.phone.apps.values():
        if wanted in ("", app.package):
            answer = call.phone.change(partial(app.received, intent=intent), app.package)
            if answer is not None:
                return Said.text(f'{head}result=-1, data="{answer}"\n')
    return Said.text(f"{head}result=0\n")


def _am_stack(call: Call) -> Said:
    state = call.phone.state
    if call.args[:1] == ("remove",):
        number = int(call.args[1]) if call.args[1:2] and call.args[1].isdigit() else -1
        call.phone.state = replace(state, tasks=tuple(t for n, t in enumerate(state.tasks, 1) if n != number))
        return Said()
    lines = []
    shown = [(0, state.home)] if state.at_home or not state.tasks else []
    shown += [(number, task.top) for number, task in reversed(list(enumerate(state.tasks, 1)))]
    for place, (number, activity) in enumerate(shown):
        name = _component(call.phone, activity)
        seen = "true" if place == 0 else "false"
        where = f"bounds=[0,0][{WIDTH},{HEIGHT}] userId=0 visible={seen}"
        lines.append(f"  taskId={number}: {name} {where} topActivity=ComponentInfo{{{name}}}")
    return Said.text("RootTask id=1 type=standard mode=fullscreen\n" + "".join(line + "\n" for line in lines))


def _component(phone: Phone, activity: Activity) -> str:
    name = activity.name
    return f"{activity.package}/{activity.package + name if name.startswith('.') else name}"


def _monkey(call: Call) -> Said:
    options, _ = call.flags("-p", "-c", "-s", "--throttle")
    package = options.get("-p", "")
    if package not in call.phone.apps:
        return Said.problem("** No activities found to run, monkey aborted.", 252)
    call.phone.open(package)
    return Said.text("Events injected: 1\n")


# Packages and settings


def _pm(call: Call) -> Said:
    action, *args = call.args or ("",)
    apps = call.phone.apps
    state = call.phone.state
    if action == "list" and args[:1] == ["packages"]:
        return Said.text("".join(f"package:{package}\n" for package in sorted(apps)))
    if action == "list":
        return Said()
    named = [arg for arg in args if arg in apps]
    if action == "path" and named:
        return Said.text(f"package:/data/app/{named[0]}/base.apk\n")
    if action == "clear":
        for package in named:
            call.phone.clear(package)
        return Said.text("Success\n") if named else Said(b"Failed\n", 1)
    if action in ("grant", "revoke") and named:
        pair = named[0], args[-1].rpartition(".")[2]
        granted = state.granted | {pair} if action == "grant" else state.granted - {pair}
        call.phone.state = replace(state, granted=granted)
        return Said()
    if action in ("enable", "disable", "disable-user") and named:
        disabled = state.disabled - set(named) if action == "enable" else state.disabled | set(named)
        call.phone.state = replace(state, disabled=disabled)
        return Said.text(f"Package {named[0]} new state: {action}d\n")
    return Said.problem(f"Error: pm {' '.join(call.args)}: no such package or command", 1)


def _settings(call: Call) -> Said:
    words = [word for word in call.args if not word.startswith("--user")]
    state = call.phone.state
    match words:
        case ["get", namespace, name] if namespace in NAMESPACES:
            return Said.text(state.setting(namespace, name, _NOT_SET) + "\n")
        case ["put", namespace, name, *value] if namespace in NAMESPACES:
            call.phone.state = state.with_setting(namespace, name, " ".join(value))
            return Said()
        case ["delete", namespace, name] if namespace in NAMESPACES:
            left = {key: value for key, value in state.settings[namespace].items() if key != name}
            call.phone.state = replace(state, settings={**state.settings, namespace: left})
            return Said.text(f"Deleted {len(state.settings[namespace]) - len(left)} rows\n")
        case ["list", namespace] if namespace in NAMESPACES:
            return Said.text("".join(f"{name}={value}\n" for name, value in sorted(state.settings[namespace].items())))
        case ["reset", *_]:
            return Said()
    return Said.problem(f"settings: expected get, put, delete or list of {', '.join(NAMESPACES)}", 255)


def _svc(call: Call) -> Said:
    names = {"wifi": "wifi_on", "bluetooth": "bluetooth_on", "data": "mobile_data"}
    match call.args:
        case (service, "enable" | "disable" as does) if service in names:
            call.phone.state = call.phone.state.with_setting("global", names[service], str(int(does == "enable")))
            return Said()
    return Said.problem(f"svc: expected {', '.join(names)} and enable or disable", 1)


def _cmd(call: Call) -> Said:
    match call.args:
        case ("wifi", "set-wifi-enabled", does):
            on = str(int(does == "enabled"))
            call.phone.state = call.phone.state.with_setting("global", "wifi_on", on)
            return Said()
        case ("bluetooth_manager", "enable" | "disable" as does):
            call.phone.state = call.phone.state.with_setting("global", "bluetooth_on", str(int(does == "enable")))
            return Said()
    return Said.problem(f"cmd: Can't find service: {' '.join(call.args[:1])}", 20)


# Input


def _input(call: Call) -> Said:
    words = [word for word in call.args if word not in ("touchscreen", "keyboard")]
    phone = call.phone
    match words:
        case ["tap", x, y]:
            phone.tap(_number(x), _number(y))
        case ["swipe" | "draganddrop", x0, y0, x1, y1, *time]:
            seconds = _number(time[0]) / 1000 if time else 0.3
            phone.swipe(_number(x0), _number(y0), _number(x1), _number(y1), seconds)
        case ["text", *text]:
            phone.type(" ".join(text).replace("%s", " "))
        case ["keyevent", *codes]:
            for code in codes:
                if not code.startswith("--"):
                    phone.key(_key_code(code))
        case ["keycombination", *codes]:
            keys = [_key_code(code) for code in codes if not code.startswith("-")]
            if LETTER_A in keys and set(keys) & set(CONTROL):
                phone.select_all()
        case _:
            return Said.problem(f"Error: Unknown command: input {' '.join(call.args)}", 255)
    return Said()


_KEYS = {
    "HOME": 3, "BACK": 4, "CALL": 5, "ENDCALL": 6, "DPAD_UP": 19, "DPAD_DOWN": 20, "DPAD_LEFT": 21, "DPAD_RIGHT": 22,
    "DPAD_CENTER": 23, "POWER": 26, "TAB": 61, "SPACE": 62, "ENTER": 66, "DEL": 67, "MENU": 82, "ESCAPE": 111,
    "FORWARD_DEL": 112, "CTRL_LEFT": 113, "MOVE_HOME": 122, "MOVE_END": 123, "APP_SWITCH": 187, "WAKEUP": 224,
    "CUT": 277, "COPY": 278, "PASTE": 279, "A": 29,
}  # fmt: skip


def _key_code(name: str) -> int:
    """The number of a key, by its number or name; what there is not does nothing."""
    if name.isdigit():
        return int(name)
    return _KEYS.get(name.upper().removeprefix("KEYCODE_"), 0)


def _number(text: str) -> int:
    try:
        return round(float(text))
    except (ValueError, OverflowError):
        return 0


# What is told


def _uiautomator(call: Call) -> Said:
    _, rest = call.flags()
    if rest[:1] != ["dump"]:
        return Said.problem("Error: expected uiautomator dump [FILE]", 1)
    target = rest[1] if len(rest) > 1 else DUMP
    dump = to_xml(call.phone.nodes()).encode()
    if target == "/dev/tty":
        return Said(dump + b"UI hierchary dumped to: /dev/tty\n")
    state = call.phone.state
    call.phone.state = replace(state, files=state.files.write(target, dump, state.now))
    return Said.text(f"UI hierchary dumped to: {target}\n")


def _dumpsys(call: Call) -> Said:
    state = call.phone.state
    _, rest = call.flags("-t", "-T", "--priority", "--skip")
    match rest:
        case ["input"]:
            frame = f"[0, 0, {WIDTH}, {HEIGHT}]"
            return Said.text(
                f"INPUT MANAGER\n  Viewport INTERNAL: displayId=0, orientation=0, logicalFrame={frame}, "
                f"physicalFrame={frame}, deviceSize=[{WIDTH}, {HEIGHT}]\n  SurfaceOrientation: 0\n"
            )
        case ["window", *_]:
            focus = _component(call.phone, state.front)
            return Said.text(f"  mCurrentFocus=Window{{1 u0 {focus}}}\n  mCurrentRotation=ROTATION_0\n")
        case ["activity", "recents"]:
            tasks = reversed(list(enumerate(state.tasks, 1)))
            return Said.text(
                "".join(f"  * Recent #{n - 1}: Task{{1 #{n} type=standard A=1:{t.package} id={n}}}\n" for n, t in tasks)
            )
        case ["activity", *_]:
            return Said.text(f"  topResumedActivity=ActivityRecord{{1 u0 {_component(call.phone, state.front)} t1}}\n")
        case ["telephony.registry"]:
            return Said.text(f"  mCallState={0 if state.call is None else state.call.android_state}\n")
        case ["input_method"]:
            return Said.text(f"  mInputShown={str(state.keyboard).lower()}\n")
        case ["battery"]:
            return Said.text("  level: 100\n")
        case ["package", package] if package in call.phone.apps:
            return Said.text(f"  Package [{package}] (1):\n    enabled=1\n")
    return Said.problem(f"Can't find service: {' '.join(rest)}", 1)


def _date(call: Call) -> Said:
    """`date`, `date +FORMAT`, or `date MMDDhhmmYY.ss`, which sets it."""
    state = call.phone.state
    words = [word for word in call.args if word != "-u"]
    if words and not words[0].startswith("+"):
        try:
            when = datetime.strptime(words[0], "%m%d%H%M%y.%S" if "." in words[0] else "%m%d%H%M%y")
        except ValueError:
            return Said.problem(f"date: bad date '{words[0]}'", 1)
        call.phone.state = replace(state, now=when.replace(tzinfo=timezone.utc).timestamp())
        return Said()
    now = datetime.fromtimestamp(state.now, timezone.utc)
    shape = words[0][1:].replace("%s", str(int(state.now))) if words else "%a %b %e %H:%M:%S UTC %Y"
    return Said.text(now.strftime(shape) + "\n")


def _sqlite3(call: Call) -> Said:
    _, words = call.flags("-cmd", "-separator")
    if len(words) < 2:
        return Said.problem("sqlite3: expected a database and a statement", 1)
    path, *statement = words
    state = call.phone.state
    database, rows = state.files.database(path).ask(" ".join(statement))
    call.phone.state = replace(state, files=state.files.write(path, database, state.now))
    return Said.text(
        "".join("|".join("" if value is None else _told_value(value) for value in row) + "\n" for row in rows)
    )


def _content(call: Call) -> Said:
    """The content providers: `query`, `insert` and `delete` at an address."""
    action, *_ = call.args or ("",)
    options, _ = call.flags("--uri", "--projection", "--where", "--sort", "--bind")
    uri = options.get("--uri", "")
    phone = call.phone
    if action == "query":
        for app in phone.apps.values():
            rows = app.query(Scene(phone.state, Activity(app.package, app.main), phone.apps, phone.taste), uri)
            if rows is not None:
                return _listed(tuple(row for row in rows if _where(options.get("--where", ""))(row)), options)
    elif action == "delete":
        for app in phone.apps.values():
            if _told(phone, app, partial(app.delete, uri=uri, where=_where(options.get("--where", "")))):
                return Said()
    elif action == "insert":
        values = _bound(call.args)
        for app in phone.apps.values():
            if _told(phone, app, partial(app.insert, uri=uri, values=values)):
                return Said()
    return Said.problem(f"Error while accessing provider:{uri.removeprefix('content://').partition('/')[0]}", 1)


def _told(phone: Phone, app: App, change: Callable[..., bool]) -> bool:
    return bool(phone.change(change, app.package))


def _listed(rows: tuple[Row, ...], options: Mapping[str, str]) -> Said:
    if not rows:
        return Said.text("No result found.\n")
    wanted = options.get("--projection", "")
    names = wanted.split(":") if wanted else list(rows[0])
    lines = []
    for number, row in enumerate(rows):
        values = ((name, row.get(name)) for name in names)
        told = ", ".join(f"{name}={_told_value(value)}" for name, value in values)
        lines.append(f"Row: {number} {told}\n")
    return Said.text("".join(lines))


def _told_value(value: object) -> str:
    if isinstance(value, bytes):
        return value.hex()
    return "NULL" if value is None else str(value)


def _where(condition: str) -> Callable[[Row], bool]:
    """The only condition that tools write: column=value, or column='value'."""
    found = re.fullmatch(r"\s*(\w+)\s*=\s*(?:'(.*)'|\"(.*)\"|(\S+))\s*", condition, re.DOTALL)
    if found is None:
        return lambda row: True
    value = next(each for each in found.groups()[1:] if each is not None)
    return lambda row: str(row.get(found[1])) == value


def _bound(args: tuple[str, ...]) -> dict[str, str | int | None]:
    """`--bind name:type:value`, as often as there are."""
    values: dict[str, str | int | None] = {}
    for word, bound in pairwise(args):
        if word == "--bind" and bound.count(":") >= 2:
            name, kind, value = bound.split(":", 2)
            values[name] = int(value) if kind in "il" and value.lstrip("-").isdigit() else value
    return values


def _getprop(call: Call) -> Said:
    known = {"ro.build.version.sdk": API_LEVEL, "sys.boot_completed": "1", "ro.product.model": "sdk_gphone_x86_64"}
    if call.args:
        return Said.text(known.get(call.args[0], "") + "\n")
    return Said.text("".join(f"[{name}]: [{value}]\n" for name, value in known.items()))


def _wm(call: Call) -> Said:
    answers = {"size": f"Physical size: {WIDTH}x{HEIGHT}\n", "density": "Physical density: 420\n"}
    return Said.text(answers.get(" ".join(call.args[:1]), ""))


def _service(call: Call) -> Said:
    if call.args[:1] == ("check",):
        return Said.text(f"Service {' '.join(call.args[1:2])}: found\n")
    return Said.text("Result: Parcel(00000000    '....')\n")


def _sh(call: Call) -> Said:
    options, _ = call.flags("-c")
    return shell(call.phone).run(options.get("-c", ""))


def _su(call: Call) -> Said:
    words = [word for word in call.args if word not in ("root", "0", "-c")]
    return shell(call.phone).run(shlex.join(words) if len(words) > 1 else " ".join(words))


SYSTEM_COMMANDS: Mapping[str, Action] = {
    "am": _am,
    "cmd": _cmd,
    "content": _content,
    "date": _date,
    "dumpsys": _dumpsys,
    "getprop": _getprop,
    "input": _input,
    "monkey": _monkey,
    "pm": _pm,
    "service": _service,
    "settings": _settings,
    "setprop": lambda call: Said(),
    "sh": _sh,
    "sqlite3": _sqlite3,
    "su": _su,
    "svc": _svc,
    "uiautomator": _uiautomator,
    "whoami": lambda call: Said.text("root\n"),
    "wm": _wm,
}
