import { chosenEngine } from '#scanner/yara/choose-engine.ts';
import type { CompiledRules, EngineKind } from '#scanner/yara/rule-engine.ts';
import { hostileUnits, isWalked } from './hostile-text.ts';
import { compileSource } from './rules.ts';
import { parseYara, type YaraRule } from './yara-source.ts';

// Measures the speed of a rule on the text that is worst for it, compared with other rules in the same process, because machines
// differ.

/** Speed of a rule on the text on which it is slowest. `shape` describes that text. */
export interface RuleSpeed {
  rule: string;
  bytes_per_ms: number;
  shape: string;
  /** The repeated text, as Latin-1. */
  unit: string;
}

/** A rule this many times slower than the median of its peers is refused. */
export const SLOWER_MAXIMUM = 10;
/** Size of a text: large enough that the scan takes longer than the call, small enough that slow rules are found quickly. A call of the WebAssembly engine takes as long as scanning 64 KB. Bytes. */
const TEXT_BYTES: Readonly<Record<EngineKind, number>> = { native: 4096, wasm: 65_536 };
/** A rule that seems slow is measured again, in processor time, for this long. The kernel may count processor time in steps of 10 ms. */
const CONFIRM_CPU_MS = 120;
const CONFIRM_WALL_MS = 3_000;
/** Number of slowest texts that are measured again: on a busy machine the very slowest may be chance. */
const CONFIRMED_TEXTS = 3;
/** YARA-X searches for patterns when a condition first needs one. This rule always needs one, even if a condition that begins with the file size does not. */
const SEARCHES = 'rule palisade_searches { strings: $a = "9b1f6a52c0d84e37" condition: $a }';

function textOf(unit: string): Buffer {
  const bytes = TEXT_BYTES[chosenEngine().engine.kind];
  return Buffer.from(unit.repeat(Math.ceil(bytes / unit.length)), 'latin1').subarray(0, bytes);
}

/** A rule with all rules that it needs, directly or through others. */
function withNeeded(rule: YaraRule, by_name: ReadonlyMap<string, YaraRule>, needed = new Set<YaraRule>()): Set<YaraRule> {
  for (const word of rule.words) {
    const other = by_name.get(word);
    if (other !== undefined && other !== rule && !needed.has(other)) {
      withNeeded(other, by_name, needed);
      needed.add(other);
    }
  }
  needed.add(rule);
  return needed;
}

/** Compiles rules with only those that they need; undefined if they do not compile. */
function compileAlone(source: ReturnType<typeof parseYara>, rules: readonly YaraRule[]): CompiledRules | undefined {
  const by_name = new Map(source.rules.map((rule) => [rule.name, rule]));
  const needed = new Set(rules.flatMap((rule) => [...withNeeded(rule, by_name)]));
  try {
    return compileSource([...new Set(source.imports), ...[...needed].map((rule) => rule.source), SEARCHES].join('\n'));
  } catch {
    return undefined;
  }
}

/** A quick measurement, the faster of two scans: other work of the machine only makes a scan slower. Bytes per ms. */
function glance(compiled: CompiledRules, text: Buffer): number {
  let best_ms = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 2; run++) {
    const began = performance.now();
    compiled.scan(text);
    best_ms = Math.min(best_ms, performance.now() - began);
  }
  return text.length / best_ms;
}

/** A precise measurement in processor time, which excludes other processes. Bytes per ms. */
function confirm(compiled: CompiledRules, text: Buffer): number {
  const began = performance.now();
  const cpu_before = process.threadCpuUsage();
  const cpuMs = () => {
    const { user, system } = process.threadCpuUsage(cpu_before);
    return (user + system) / 1000;
  };
  let scans = 0;
  while (cpuMs() < CONFIRM_CPU_MS && performance.now() - began < CONFIRM_WALL_MS) {
    for (let run = 0; run < 4; run++) compiled.scan(text);
    scans += 4;
  }
  return (scans * text.length) / Math.max(1, cpuMs());
}

function isMeasured({ is_private, patterns }: YaraRule): boolean {
  return !is_private && patterns.length > 0;
}

/** A rule's slowest texts by the quick measurement, the slowest first. */
function slowest(compiled: CompiledRules, rule: YaraRule): RuleSpeed[] {
  const speeds = [...hostileUnits(rule.patterns)].map(([shape, unit]) => ({
    rule: rule.name,
    bytes_per_ms: glance(compiled, textOf(unit)),
    shape,
    unit,
  }));
  return speeds.sort((one, other) => one.bytes_per_ms - other.bytes_per_ms).slice(0, CONFIRMED_TEXTS);
}

function medianOf(speeds: readonly RuleSpeed[]): number {
  const sorted = speeds.map(({ bytes_per_ms }) => bytes_per_ms).sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.POSITIVE_INFINITY;
}

/** The rule's slowest text, measured again in processor time if the quick measurement was below `floor`. */
function settled(compiled: CompiledRules, looks: readonly RuleSpeed[], floor: number): RuleSpeed | undefined {
  const suspects = looks.filter(({ bytes_per_ms }) => bytes_per_ms < floor);
  if (suspects.length === 0) return looks[0];
  const speeds = suspects.map((look) => ({ ...look, bytes_per_ms: confirm(compiled, textOf(look.unit)) }));
  return speeds.sort((one, other) => one.bytes_per_ms - other.bytes_per_ms)[0];
}

/**
 * Measures every rule of a source alone, on the text that is worst for it. Returns the speeds, slowest first, and their median. `every`: measures only every nth rule.
 * @throws when a rule does not compile.
 */
export function measureRules(text: string, every = 1): { median: number; speeds: RuleSpeed[] } {
  const source = parseYara(text);
  const measured = source.rules
    .filter(isMeasured)
    .filter((_rule, index) => index % every === 0)
    .flatMap((rule) => {
      const compiled = compileAlone(source, [rule]);
      return compiled === undefined ? [] : [{ compiled, looks: slowest(compiled, rule) }];
    });
  const median = medianOf(measured.flatMap(({ looks }) => looks.slice(0, 1)));
  const speeds = measured.flatMap(({ compiled, looks }) => settled(compiled, looks, (2 * median) / SLOWER_MAXIMUM) ?? []);
  for (const { compiled } of measured) compiled.release();
  return { median, speeds: speeds.sort((one, other) => one.bytes_per_ms - other.bytes_per_ms) };
}

/** Number of rules that are measured together: most are fast, and compiling takes longer than measuring. */
const TOGETHER = 24;

/**
 * The rules of a source that are slower than a tenth of the median of `peers`, slowest first. Measures groups of rules, and a single rule only if its group is slow.
 * Rules that are not measured within `time_ms` count as fast, and so do rules that only search for fixed texts.
 */
export function slowRules(text: string, peers: () => number, time_ms: number): { median: number; slow: RuleSpeed[] } {
  const source = parseYara(text);
  const rules = source.rules.filter(isMeasured).filter(({ patterns }) => patterns.some(isWalked));
  if (rules.length === 0) return { median: Number.POSITIVE_INFINITY, slow: [] };
  const median = peers();
  const floor = median / SLOWER_MAXIMUM;
  const until = performance.now() + time_ms;
  const slow: RuleSpeed[] = [];
  for (let at = 0; at < rules.length; at += TOGETHER) {
    const group = rules.slice(at, at + TOGETHER);
    const together = compileAlone(source, group);
    for (const rule of group) {
      if (performance.now() > until) break;
      const is_fast =
        together !== undefined && (slowest(together, rule)[0]?.bytes_per_ms ?? Number.POSITIVE_INFINITY) > 2 * floor;
      const compiled = is_fast ? undefined : compileAlone(source, [rule]);
      const speed = compiled === undefined ? undefined : settled(compiled, slowest(compiled, rule), 2 * floor);
      if (speed !== undefined && speed.bytes_per_ms < floor) slow.push(speed);
      compiled?.release();
    }
    together?.release();
  }
  return { median, slow: slow.sort((one, other) => one.bytes_per_ms - other.bytes_per_ms) };
}
