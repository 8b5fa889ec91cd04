"""What a task's work is worth: our own implementation of the benchmark's checks."""

from eapo_gym.envs.osworld.judging.judge import Checked, Verdict, judge
from eapo_gym.envs.osworld.judging.registry import CannotJudge, known_getters, known_metrics

__all__ = ["CannotJudge", "Checked", "Verdict", "judge", "known_getters", "known_metrics"]
