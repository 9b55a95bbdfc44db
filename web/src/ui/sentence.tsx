import { createElement, Fragment, type ReactNode } from 'react';

/** Placeholder names of a text. */
type Names<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never;

/** Placeholders are unknown to the compiler if the text comes from a table. */
type SentenceProps<Text extends string> = { text: Text } & (string extends Text
  ? { parts?: Readonly<Record<string, ReactNode>> }
  : [Names<Text>] extends [never]
    ? { parts?: never }
    : { parts: Readonly<Record<Names<Text>, ReactNode>> });

const MARKS = /(\*\*.+?\*\*|\{\w+\})/u;

function nodesOf(text: string, parts: Readonly<Record<string, ReactNode>>): ReactNode[] {
  return text.split(MARKS).map((piece) => {
    if (piece.startsWith('**')) return createElement('b', null, ...nodesOf(piece.slice(2, -2), parts));
    const name = piece.slice(1, -1);
    return piece.startsWith('{') && Object.hasOwn(parts, name) ? parts[name] : piece;
  });
}

/**
 * A whole sentence with elements: `parts` replace placeholders (`{name}`), and text between `**` is bold. A translation can reorder the words.
 * A missing part does not compile. Values from people must be in `parts`.
 */
export function Sentence<const Text extends string>({ text, parts }: SentenceProps<Text>): ReactNode {
  return createElement(Fragment, null, ...nodesOf(text, parts ?? {}));
}
