"""Text that tries to pose as something else, for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

FRAGMENTS = (
    *("<think>", "</think>", "<explore>", "</explore>", "<memory>", "</memory>", "<action>", "</action>"),
    *("</state>", "< / MEMORY >", "<memory", "＜/memory＞", "<\u200b/memory>", "<ｍemory>", "<th㏌k>", "<ﬆate>"),
    *("\\boxed{", "\\boxed", "\\ boxed{", "＼boxed{", "{", "}", "｛", "[INST]", "[/INST]", "[ INST ]", "［INST]"),
    *("<|im_start|>", "<|im_end|>", "<｜User｜>", "<start_of_turn>", "<end_of_turn>", "<|", "|>", "<s>", "<<SYS>>"),
    *("&", "amp;", "&amp;", "&#60;", "&#92;", "&#123;", "&#125;", "&amp;#60;", "#60;", "&lt;", "&#", "60;"),
    *("<", ">", "/", "\\", "[", "]", " ", "\n", "\t", "\x1c", "\u00a0", "take key", '{"a": 1}', "\ud800", "é", "😀"),
)

hostile_text = st.lists(
    st.one_of(st.sampled_from(FRAGMENTS), st.text(st.characters(exclude_categories=()), max_size=8)), max_size=12
).map("".join)
