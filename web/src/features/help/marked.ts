/** Markup that the editor's toolbar inserts. */
export type MarkKind = 'heading' | 'bold' | 'list' | 'steps' | 'link' | 'warning';

/** A text with its selection, in UTF-16 units like a textarea. */
export interface Selected {
  text: string;
  start: number;
  end: number;
}

/** Markup at the start of a line, by the line's index in the selection. */
const LINE_MARKS: Partial<Record<MarkKind, (index: number) => string>> = {
  heading: () => '## ',
  list: () => '- ',
  steps: (index) => `${index + 1}. `,
  warning: () => '> ',
};
const ANY_LINE_MARK = /^(?:#{1,6} |- |\d+\. |> )/u;

/** Puts the markup around the selection, or before each of its lines, replacing other line markup. The selected words stay selected. */
export function marked({ text, start, end }: Selected, kind: MarkKind): Selected {
  const lineMark = LINE_MARKS[kind];
  if (lineMark === undefined)
    return around({ text, start, end }, kind === 'bold' ? ['**', '**', 'bold'] : ['[', '](/help)', 'words']);
  const from = text.lastIndexOf('\n', start - 1) + 1;
  const after = text.indexOf('\n', end);
  const to = after === -1 ? text.length : after;
  const lines = text.slice(from, to).split('\n');
  const changed = lines.map((line, index) => lineMark(index) + line.replace(ANY_LINE_MARK, '')).join('\n');
  return { text: text.slice(0, from) + changed + text.slice(to), start: from, end: from + changed.length };
}

function around({ text, start, end }: Selected, [before, behind, example]: readonly [string, string, string]): Selected {
  const words = text.slice(start, end) || example;
  const at = start + before.length;
  return { text: text.slice(0, start) + before + words + behind + text.slice(end), start: at, end: at + words.length };
}
