import { Fragment } from 'react';

/** An email or web address. Lines break after punctuation, and within a word only if the word does not fit. */
export function Address({ text }: { text: string }) {
  return (
    <bdi className="break">
      {text.split(/(?<=[@._+/?&=-])(?=.)/u).map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text keep their order
        <Fragment key={index}>
          {index > 0 && <wbr />}
          {part}
        </Fragment>
      ))}
    </bdi>
  );
}
