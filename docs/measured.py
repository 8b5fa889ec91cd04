"""The tables of measured numbers, made from `benchmarks/results/*.json` and from nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "results"

Table = Callable[[Any], str]


def measured(name: str, command: str, table: Table) -> str:
    """A result as a table, with where it comes from; or how to get it, where there is none yet."""
    file = RESULTS / f"{name}.json"
    if not file.exists():
        return f"*Not measured yet; `{command}` does it.*"
    record = json.loads(file.read_text(encoding="utf-8"))
    machine = record["machine"]
    source = (
        f"<sub>`{record['command']}`, {record['date'][:10]}, {machine['cores']} cores of {machine['cpu']}, "
        f"Python {machine['python']}; all of it in `{file.relative_to(ROOT).as_posix()}`.</sub>"
    )
    return f"{table(record['result'])}\n\n{source}"


def rows(head: list[str], body: list[list[str]]) -> str:
    """A table whose first column is text and whose others are numbers."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def number(value: float | None) -> str:
    """Three digits that count, or all of them before the point."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def share(value: float) -> str:
    return f"{100 * value:.1f} %"


# What was measured


def speed(result: Any) -> str:
    reference = next((row["steps_per_s"] for name, row in result["rates"].items() if "reference" in name), None)
    body = [
        [
            name,
            number(row["steps_per_s"]),
            "–" if reference is None else number(row["steps_per_s"] / reference),
            number(row.get("known_game_steps_per_s")),
            number(row["new_game_ms"]),
            number(row.get("known_game_ms")),
        ]
        for name, row in result["rates"].items()
    ]
    head = [
        f"{result['source']} games",
        "steps/s",
        "× reference",
        "steps/s, known games",
        "reset, new game, ms",
        "known game, ms",
    ]
    return rows(head, body)


def costs(result: Any) -> str:
    costs = result["costs"]
    return rows(
        ["native engine", "cost"],
        [
            ["snapshot, µs", number(costs["snapshot_us"])],
            ["snapshot and restore, µs", number(costs["snapshot_and_restore_us"])],
            ["a further environment of a loaded game, KB", number(costs["kb_per_further_env"])],
        ],
    )


def summary(result: Any) -> str:
    """The lines of the README."""
    chosen = {name: row for name, row in result["rates"].items() if "as many games" not in name}
    body = [
        [name, number(row["steps_per_s"]), number(row.get("known_game_steps_per_s"))] for name, row in chosen.items()
    ]
    return rows([f"ALFWorld, {result['source']} games", "steps/s", "steps/s, known games"], body)


def agreement(result: Any) -> str:
    body = [[number(result["games"]), number(result["steps"]), number(result["differences"])]]
    return "\n".join(
        (f"On games of {', '.join(result['splits'])}:", "", rows(["games", "steps compared", "differences"], body))
    )


def experts(result: Any) -> str:
    parts = []
    for split, types in result["splits"].items():
        agents = types["all"]
        oracle = agents["oracle"]["mean steps"]
        body = []
        for agent, row in agents.items():
            low, high = row["within 50, 95 %"]
            body.append(
                [
                    agent,
                    f"{share(row['within 50'])} ({100 * low:.1f}–{100 * high:.1f})",
                    share(row["within 100"]),
                    f"{row['mean steps']:.1f}",
                    f"{row['mean steps'] / oracle:.2f}",
                ]
            )
        games = agents["oracle"]["games"]
        head = [f"{split}, {games} games", "won in 50 steps (95 %)", "won in 100", "steps if won", "÷ oracle's"]
        parts.append(rows(head, body))
    return "\n\n".join(parts)


def webshop_experts(result: Any) -> str:
    parts = []
    for title, played in result["shops"].items():
        body = []
        for agent, row in played["agents"].items():
            low, high = row["success, 95 %"]
            body.append(
                [
                    agent,
                    f"{row['score']:.3f}",
                    f"{share(row['success'])} ({100 * low:.1f}–{100 * high:.1f})",
                    f"{row['mean steps']:.1f}",
                    number(row["most steps"]),
                ]
            )
        goals = played["agents"]["explorer"]["goals"]
        parts.append(rows([f"{title}, {goals} of them", "score", "success (95 %)", "steps", "most"], body))
    return "\n\n".join(parts)


def androidworld_experts(result: Any) -> str:
    levels = list(result["agents"]["explorer"])
    body = []
    for agent, parts in result["agents"].items():
        cells = []
        for level in levels:
            low, high = parts[level]["success, 95 %"]
            cells.append(f"{share(parts[level]['success'])} ({100 * low:.1f}–{100 * high:.1f})")
        body.append([agent, *cells, f"{parts['all']['mean steps']:.1f}"])
    heads = [f"{level}, {result['agents']['explorer'][level]['episodes']}" for level in levels]
    return rows(["success (95 %)", *heads, "steps"], body)


def androidworld_verdicts(result: Any) -> str:
    attempts = result["attempts"]
    body = [[name, number(count)] for name, count in attempts.items()]
    body += [
        ["judged to be done", number(result["passing"])],
        ["judged otherwise by us", number(len(result["different"]))],
    ]
    said = f"{len(result['tasks'])} tasks, prepared and judged by the benchmark's own code, and judged by ours:"
    return f"{said}\n\n" + rows(["attempts", "number"], body)


def androidworld_adapter(result: Any) -> str:
    body = []
    for mode, row in result["inside"].items():
        whole = result["hosted"][mode]["median"]
        body.append([mode, *(number(row[part]["median"]) for part in ("adapter_ms", "device_ms")), number(whole)])
    head = [
        "median ms of a step",
        "the adapter",
        "the device (the embedded phone)",
        "all of it, in a process of its own",
    ]
    return rows(head, body)


def androidworld(result: Any) -> str:
    body = [[name, number(row["steps_per_s"]), number(row["resets_per_s"])] for name, row in result["places"].items()]
    table = rows([f"one process, the plans of {result['tasks']} tasks", "steps/s", "resets/s"], body)
    more = [["saved and put back, per second", number(result["snapshots_per_s"])]]
    more += [["a further environment, KB", number(result["kb_per_further_env"])]]
    return f"{table}\n\n{rows(['', ''], more)}"


def hosting(result: Any) -> str:
    body = [
        [call, number(places["local"]["median"]) if "local" in places else "–", number(places["hosted"]["median"])]
        for call, places in result["microseconds"].items()
    ]
    return rows(["median, in µs", "in this process", "hosted"], body)


def protocol(result: Any) -> str:
    ordinary = result["ordinary_response"]
    return rows(
        ["parse", "characters", "ms"],
        [
            ["an ordinary response", number(ordinary["characters"]), number(ordinary["parse_us"] / 1000)],
            ["the slowest of the hostile ones", number(result["characters"]), number(result["slowest_ms"])],
        ],
    )


def overhead(result: Any) -> str:
    body = [
        [name, number(row["steps"]), number(row["steps_per_second"]), number(row["steps_per_cpu_second"])]
        for name, row in result["runs"].items()
    ]
    return rows(["random agent, native ALFWorld", "steps", "steps/s", "steps per second of processor time"], body)


def prompts(result: Any) -> str:
    body = [
        [name, number(row["prompt_us"]), number(row["prompt_shortened_us"]), number(row["step_us"])]
        for name, row in result["cases"].items()
    ]
    head = [f"µs at {result['prompt_tokens']:,} tokens", "prompt", "prompt, shortened", "prompt and parser"]
    return rows(head, body)


def kills(result: Any) -> str:
    said = "yes" if result["equal"] else "no"
    body = [[number(result["kills"]), number(result["episodes"]), number(result["planned"]), said]]
    return rows(["kills", "episodes", "planned", "equal to a run without"], body)


def hostile(result: Any) -> str:
    times = [number(result["ms"][name]) for name in ("p50", "p99", "p99.9", "max")]
    body = [[number(result["outputs"]), number(len(result["failures"])), *times]]
    return rows(["hostile outputs", "failures", "median ms", "99 %", "99.9 %", "slowest"], body)


def batching(result: Any) -> str:
    body = [
        [name, number(row["tokens"]), number(row["tokens_per_second"]), share(row["batch_fill"])]
        for name, row in result["ways"].items()
    ]
    engine = result["engine"]
    head = [f"{engine['architecture']}, {engine['parameters']:,} parameters", "tokens", "tokens/s", "batch full"]
    return rows(head, body)


def vllm(result: Any) -> str:
    through, alone = max(result["episodes"]), max(result["alone"])
    return rows(
        [f"best of {result['repeats']} turns", "tokens/s", "share"],
        [["vLLM alone, all prompts at once", number(alone), ""], ["episodes", number(through), share(result["share"])]],
    )


def reports(result: Any) -> str:
    body = [
        [
            what,
            *(
                number(result[what][key])
                for key in ("size_mb", "overview_s", "open_cold_ms", "open_next_ms", "step_ms")
            ),
        ]
        for what in ("text", "images")
    ]
    head = [
        f"{result['episodes']} episodes × {result['steps']} steps",
        *("MB", "overview, s", "an episode, ms", "the next one, ms", "a step, ms"),
    ]
    return rows(head, body)


def grouping(result: Any) -> str:
    body = [
        [f"`{name}`", *(number(row[f"{part}_s"]) for part in ("rewards", "advantages", "statistics"))]
        for name, row in result["presets"].items()
    ]
    head = [f"{result['transitions']:,} transitions, seconds", "rewards", "groups and advantages", "statistics"]
    return rows(head, body)


def reward_model(result: Any) -> str:
    batched, alone = result["seconds_per_1000"], result["one_at_a_time_seconds_per_1000"]
    body = [
        [
            part,
            number(batched[part]),
            number(alone.get(part)),
            number(alone[part] / batched[part] if alone.get(part) else None),
        ]
        for part in batched
    ]
    sums = sum(batched.values()), sum(alone.values())
    body.append(["together", *map(number, sums), number(result["speedup"])])
    head = [f"model of {result['model']} parameters, {result['device']}, s per 1,000 transitions"]
    return rows([*head, "batched", "one sample at a time", "times as fast"], body)


def learning(result: Any) -> str:
    """The experiment makes its own tables, which are also printed and kept beside its runs."""
    body = []
    for name, each in result["data"]["rollback_success"].items():
        share = each["kinds"]["all"]
        low, high = (100 * bound for bound in share["interval"])
        body.append([f"`{name}`", f"{100 * share['rate']:.1f} %", f"{low:.1f}–{high:.1f} (n = {share['tried']})"])
    back = rows(["Rollback pairs of held-out games, greedy", "returned", "95 %"], body)
    whole = len(result["seeds_planned"])
    rest = [
        line
        for line in str(result["table"]).strip().splitlines()
        if f" of {whole})" not in line or f"({whole} of" in line
    ]
    return "\n".join(rest) + f"\n\n{back}"


def switches(result: Any) -> str:
    """The arms that vary a switch, under the arm that they vary, which is that of the experiment above."""
    above = json.loads((RESULTS / "learning.json").read_text(encoding="utf-8"))["result"]
    starts = [one["start"]["sft"]["sampled"]["success_by_run"] for one in (above, result)]
    if starts[0] != starts[1]:
        raise ValueError("The arms of learning.json and learning_switches.json did not begin with the same model.")
    body = []
    for name, arm in {**result["arms"], "eapo": above["arms"]["eapo"]}.items():
        if "sampled" not in arm:
            continue
        changed = {key: value for key, value in result["experiment"]["arms"][name].items() if key != "algorithm"}
        said = ", ".join(f"`{key}={value}`" for key, value in changed.items()) or "the defaults, as above"
        cells = []
        for how in ("sampled", "greedy"):
            success, pooled = arm[how]["success"], arm[how]["pooled"]
            cells.append(f"{100 * success['mean']:.1f} ± {100 * success['std']:.1f}")
            cells.append(f"{100 * pooled['low']:.1f}–{100 * pooled['high']:.1f}")
        body.append([said, str(success["n"]), *cells])
    return rows(["", "runs", "sampled, %", "pooled, 95 %", "greedy, %", "pooled, 95 %"], body)


def training_step(result: Any) -> str:
    names = list(result["seconds"])
    body = [
        ["all of it" if part == "step" else part, *(number(result["seconds"][name][part]) for name in names)]
        for part in result["seconds"][names[0]]
        if part != "env"
    ]
    body.append(["times GRPO's, all of it", *(number(result["step_over_grpo"][name]) for name in names)])
    peaks = (result["memory"].get(name, {}).get("peak_mb") for name in names)
    body.append(["peak memory with adapters, MB", *map(number, peaks)])
    settings = result["settings"]
    head = f"{result['device_name']}, {settings['size']}, {result['tuning']}; median seconds of a step"
    return rows([head, *(f"`{name}`" for name in names)], body)


def log_probs(result: Any) -> str:
    body = [
        [
            f"{tuning}, {part}",
            *(number(each["tokens_per_second"].get(who, {}).get(part)) for who in ("ours", "plain", "trl")),
        ]
        for tuning, each in result["tunings"].items()
        for part in ("score", "update")
    ]
    return rows([f"{result['device']}, {result['model']}, tokens/s", "the trainer", "a plain loop", "TRL"], body)


def webshop(result: Any) -> str:
    places = dict(result["small"])
    if "full" in result:
        places[f"{result['full']['build']['products']:,} products"] = result["full"]
    if "beside" in result:
        places |= {"in turns: the original": result["beside"]["original"], "in turns: here": result["beside"]["native"]}
    columns = {
        "steps/s": "steps_per_s",
        "resets/s": "resets_per_s",
        "searches/s": "searches_per_s",
        "snapshot, µs": "snapshot_us",
        "restore, µs": "restore_us",
        "a further environment, KB": "kb_per_further_env",
    }
    body = [[name, *(number(place.get(key)) for key in columns.values())] for name, place in places.items()]
    tables = [rows(["one process", *columns], body)]
    if "full" in result:
        full, build = result["full"], result["full"]["build"]
        memory = full["memory_of_the_largest"]
        body = [
            ["building products and goals, s", number(build["store_s"])],
            ["building the search index, s", number(build["index_s"])],
            ["memory for that, MB", number(build["peak_memory_mb"])],
            ["products and goals on disk, MB", number(build["store_mb"])],
            ["search index on disk, MB", number(build["index_mb"])],
            ["opening both in a new process, s", number(full["open_s"])],
            ["until the first page, s", number(full["first_page_s"])],
            ["a search, median, ms", number(full["search_ms_median"])],
            ["a search, 99 %, ms", number(full["search_ms_99"])],
            [f"memory of one of {full['processes']} processes, its own, MB", number(memory["private_mb"])],
            ["the same before it opened the shop, MB", number(memory["private_mb_before"])],
            ["with its share of the files that are mapped, MB", number(memory["pss_mb"])],
        ]
        tables.append(rows([f"{build['products']:,} made-up products", ""], body))
    return "\n\n".join(tables)


def _part(name: str, command: str, table: Table) -> Callable[[], str]:
    return lambda: measured(name, command, table)


MEASURED: dict[str, Callable[[], str]] = {
    "speed": _part("alfworld", "python benchmarks/alfworld.py", speed),
    "costs": _part("alfworld", "python benchmarks/alfworld.py", costs),
    "summary": _part("alfworld", "python benchmarks/alfworld.py", summary),
    "agreement": _part("alfworld_agreement", "python benchmarks/alfworld_agreement.py", agreement),
    "experts": _part("alfworld_experts", "python benchmarks/alfworld_experts.py", experts),
    "androidworld experts": _part(
        "androidworld_experts", "python benchmarks/androidworld_experts.py", androidworld_experts
    ),
    "androidworld": _part("androidworld", "python benchmarks/androidworld.py", androidworld),
    "androidworld adapter": _part(
        "androidworld_adapter", "python benchmarks/androidworld_adapter.py", androidworld_adapter
    ),
    "androidworld verdicts": _part(
        "androidworld_verdicts", "python benchmarks/androidworld_verdicts.py", androidworld_verdicts
    ),
    "webshop experts": _part("webshop_experts", "python benchmarks/webshop_experts.py", webshop_experts),
    "hosting": _part("hosting", "python benchmarks/hosting.py", hosting),
    "batching": _part("engine_batching", "python benchmarks/engine_batching.py", batching),
    "hostile": _part("hostile_outputs", "python benchmarks/hostile_outputs.py", hostile),
    "grouping": _part("grouping", "python benchmarks/grouping.py", grouping),
    "learning": _part("learning", "python benchmarks/learning/run.py", learning),
    "learning switches": _part(
        "learning_switches", "python benchmarks/learning/run.py --result learning_switches …", switches
    ),
    "log-probs": _part("log_probs", "python benchmarks/log_probs.py", log_probs),
    "training step": _part("training_step", "python benchmarks/training_step.py", training_step),
    "reward model": _part("reward_model", "python benchmarks/reward_model.py", reward_model),
    "kills": _part("kill_and_resume", "python benchmarks/kill_and_resume.py", kills),
    "overhead": _part("bench_overhead", "python benchmarks/bench_overhead.py", overhead),
    "prompts": _part("prompt_building", "python benchmarks/prompt_building.py", prompts),
    "reports": _part("report_size", "python benchmarks/report_size.py", reports),
    "vllm": _part("engine_vllm", "python benchmarks/engine_vllm.py", vllm),
    "webshop": _part("webshop", "python benchmarks/webshop.py --full FOLDER", webshop),
    "protocol": _part("protocol", "python benchmarks/protocol.py", protocol),
}
"""The name of a part of a page → what stands there."""
