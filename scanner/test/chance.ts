/** Reproducible numbers (xorshift32). */
export class Chance {
  private state: number;

  constructor(seed: number) {
    // Neighbouring seeds begin far from each other.
    this.state = Math.imul(seed + 1, 0x9e3779b1) | 1;
    for (let turn = 0; turn < 8; turn += 1) this.next();
  }

  next(): number {
    this.state ^= this.state << 13;
    this.state ^= this.state >>> 17;
    this.state ^= this.state << 5;
    return this.state >>> 0;
  }

  below(limit: number): number {
    return limit <= 0 ? 0 : this.next() % limit;
  }

  of<T>(choices: readonly T[]): T {
    const choice = choices[this.below(choices.length)];
    if (choice === undefined) throw new Error('Nothing to choose from.');
    return choice;
  }
}
