import { formatNumber, plural } from '@palisade/contract/intl';

/** Minimum number of consecutive quoted lines that are folded, because the reader usually knows them. */
const FOLDED_FROM = 4;
const QUOTED = /^\s{0,3}>/u;

interface Part {
  isFolded: boolean;
  lines: string[];
}

/** Splits a text into normal parts and folded quotes. No text is lost. */
export function partsOf(text: string): Part[] {
  const runs: { isQuoted: boolean; lines: string[] }[] = [];
  for (const line of text.split('\n')) {
    const isQuoted = QUOTED.test(line);
    const last = runs.at(-1);
    if (last?.isQuoted === isQuoted) last.lines.push(line);
    else runs.push({ isQuoted, lines: [line] });
  }
  const parts: Part[] = [];
  for (const { isQuoted, lines } of runs) {
    const isFolded = isQuoted && lines.length >= FOLDED_FROM;
    const last = parts.at(-1);
    if (last && !last.isFolded && !isFolded) last.lines.push(...lines);
    else parts.push({ isFolded, lines: [...lines] });
  }
  return parts;
}

/** The text of a message. Long quotes are folded and can be expanded. */
export function MessageText({ text }: { text: string }) {
  const parts = partsOf(text);
  if (!parts.some(({ isFolded }) => isFolded)) return text;
  let place = 0;
  return parts.map(({ isFolded, lines }) => {
    const key = place;
    place += lines.length;
    return isFolded ? (
      <details key={key} className="message__quoted">
        <summary>{plural(lines.length, { one: '1 quoted line', other: `${formatNumber(lines.length)} quoted lines` })}</summary>
        {lines.join('\n')}
      </details>
    ) : (
      <span key={key}>{lines.join('\n')}</span>
    );
  });
}
