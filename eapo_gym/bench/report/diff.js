"use strict";

const WORDS_TO_COMPARE = 2000;

/** What changed between two texts, word by word: [["same" | "gone" | "new", text], …], or null if they are too long. */
function wordDiff(before, after) {
  const old = before.match(/\S+\s*|\s+/g) ?? [], young = after.match(/\S+\s*|\s+/g) ?? [];
  let head = 0;
  while (head < Math.min(old.length, young.length) && old[head] === young[head]) head++;
  let tail = 0;
  while (tail < Math.min(old.length, young.length) - head && old.at(-1 - tail) === young.at(-1 - tail)) tail++;
  const a = old.slice(head, old.length - tail), b = young.slice(head, young.length - tail);
  if (Math.max(a.length, b.length) > WORDS_TO_COMPARE) return null;

  const parts = [];
  const add = (kind, word) => {
    if (parts.length && parts.at(-1)[0] === kind) parts.at(-1)[1] += word;
    else parts.push([kind, word]);
  };
  young.slice(0, head).forEach(word => add("same", word));
  alignWords(a, b, add);
  young.slice(young.length - tail).forEach(word => add("same", word));
  return parts;
}

/** Walks along a longest common subsequence; words that differ in the blanks behind them alone are the same. */
function alignWords(a, b, add) {
  const left = a.map(word => word.trimEnd()), right = b.map(word => word.trimEnd());
  const width = b.length + 1;
  const common = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * width + j] = left[i] === right[j]
        ? common[(i + 1) * width + j + 1] + 1
        : Math.max(common[(i + 1) * width + j], common[i * width + j + 1]);
    }
  }
  let i = 0, j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && left[i] === right[j]) { add("same", b[j++]); i++; }
    else if (i < a.length && (j === b.length || common[(i + 1) * width + j] >= common[i * width + j + 1])) add("gone", a[i++]);
    else add("new", b[j++]);
  }
}
