import { describe, expect, test } from 'vitest';
import { createRefusalLog } from './refusal-log.ts';

function startLog() {
  const lines: object[] = [];
  let at = 1_000_000;
  const log = createRefusalLog({ logger: { warn: (facts: object) => void lines.push(facts) }, now: () => at });
  const tell = (source: string, times: number) => Array.from({ length: times }, () => log.mayTell(source)).filter(Boolean).length;
  const pass = (ms: number) => {
    at += ms;
  };
  return { log, lines, tell, pass };
}

describe('lines of refused calls', () => {
  test('are 20 for each source in a minute, and one with the number of the others', () => {
    const { log, lines, tell, pass } = startLog();
    expect(tell('192.0.2.1', 500)).toBe(20);
    expect(tell('192.0.2.2', 3)).toBe(3);
    log.settle();
    expect(lines).toEqual([]);
    pass(60_000);
    log.settle();
    expect(lines).toEqual([{ source: '192.0.2.1', left_out: 480 }]);
    expect(tell('192.0.2.1', 30)).toBe(20);
  });

  test('reports left-out lines before the next minute of that source begins', () => {
    const { lines, tell, pass } = startLog();
    tell('192.0.2.1', 25);
    pass(61_000);
    expect(tell('192.0.2.1', 1)).toBe(1);
    expect(lines).toEqual([{ source: '192.0.2.1', left_out: 5 }]);
  });

  test('of many sources share one allowance behind the first 10,000', () => {
    const { tell } = startLog();
    let told = 0;
    for (let source = 0; source < 12_000; source += 1) told += tell(`source ${source}`, 1);
    expect(told).toBe(10_020);
  });

  test('begin anew after a clock that jumps back', () => {
    const { tell, pass } = startLog();
    tell('192.0.2.1', 25);
    pass(-3_600_000);
    expect(tell('192.0.2.1', 1)).toBe(1);
  });
});
