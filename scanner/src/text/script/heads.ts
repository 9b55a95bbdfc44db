import type { Language, Token } from './tokens.ts';

/** Number of tokens of a loop's head that are checked. */
const HEAD_TOKENS = 6;
const INPUT_TOKENS = 30;

/** Whether the name at `at` is a counter: `for (i = 0`, `i++`, `i = i + 1`, `i += 1`. */
function isCounter(tokens: readonly Token[], at: number, is_head: boolean, language: Language): boolean {
  const [one, two, three, four] = [1, 2, 3, 4].map((ahead) => tokens[at + ahead]?.value ?? '');
  if (one === '+' && two === '+') return true;
  if (one === '+=' && two === '1') return true;
  if (one === '=' && two === tokens[at]?.value && three === '+' && four === '1') return true;
  return is_head && (one === '=' || (one === 'in' && language === 'javascript'));
}

/** The names of loop counters, and the parameter names of each function that a script defines. */
export function headsOf(tokens: readonly Token[], language: Language): { counters: Set<string>; inputs: Map<string, string[]> } {
  const counters = new Set<string>();
  const inputs = new Map<string, string[]>();
  let left = 0;
  for (const [at, token] of tokens.entries()) {
    if (token.kind !== 'name') {
      left -= 1;
      continue;
    }
    left = /^for$/i.test(token.value) ? HEAD_TOKENS : left - 1;
    if (isCounter(tokens, at, left > 0, language)) counters.add(token.value);
    if (!/^(?:function|def|sub)$/i.test(token.value) || tokens[at + 2]?.value !== '(') continue;
    const names: string[] = [];
    for (let next = at + 3; next < at + INPUT_TOKENS; next += 1) {
      const { kind, value = ')' } = tokens[next] ?? {};
      if (value === ')') break;
      if (kind === 'name' && !/^(?:byval|byref)$/i.test(value)) names.push(value);
    }
    inputs.set(tokens[at + 1]?.value ?? '', names);
  }
  return { counters, inputs };
}
