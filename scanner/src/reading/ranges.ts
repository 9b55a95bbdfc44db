/** From `start` to `end`, exclusive. Bytes. */
export interface Range {
  start: number;
  end: number;
}

/** Ranges of one content, merged where they touch or overlap. They may be added in any order. */
export class Ranges {
  private list: readonly Range[] = [];
  /** Added, but not merged yet: readers mostly move forward, and sorting a list that is nearly sorted is cheap. */
  private loose: Range[] = [];
  private readonly size: number;

  /** Ranges are clamped to `size` bytes, whatever a reader claims. */
  constructor(size: number) {
    this.size = size;
  }

  add(start: number, end: number): void {
    // A claimed offset may be NaN.
    const range = { start: Math.max(0, start), end: Math.min(this.size, end) };
    if (!(range.start < range.end)) return;
    const last = this.loose.at(-1);
    if (last !== undefined && range.start >= last.start && range.start <= last.end) last.end = Math.max(last.end, range.end);
    else this.loose.push(range);
  }

  addAll(others: Ranges): void {
    for (const { start, end } of others.all()) this.add(start, end);
  }

  /** End of the last range; 0 without any. */
  get end(): number {
    return this.all().at(-1)?.end ?? 0;
  }

  /** The merged ranges, in order. */
  all(): readonly Range[] {
    if (this.loose.length === 0) return this.list;
    const sorted = [...this.list, ...this.loose].sort((one, other) => one.start - other.start);
    this.loose = [];
    const merged: Range[] = [];
    for (const { start, end } of sorted) {
      const last = merged.at(-1);
      if (last !== undefined && start <= last.end) last.end = Math.max(last.end, end);
      else merged.push({ start, end });
    }
    this.list = merged;
    return merged;
  }

  get is_empty(): boolean {
    return this.list.length === 0 && this.loose.length === 0;
  }

  /** The ranges before, between and after them. */
  gaps(): Range[] {
    const gaps: Range[] = [];
    let at = 0;
    for (const { start, end } of this.all()) {
      if (start > at) gaps.push({ start: at, end: start });
      at = end;
    }
    if (at < this.size) gaps.push({ start: at, end: this.size });
    return gaps;
  }
}
