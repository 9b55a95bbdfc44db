import './file-name.css';
import { shownNameOf } from './shown-name.ts';

/**
 * A name that a stranger chose: text only, cut off from the direction of the text around it.
 * A long one is cut in its middle, so that its ending is always seen; the ending of a program that is named like a document is marked.
 */
export function FileName({ name }: { name: string }) {
  const { whole, head, tail, disguise } = shownNameOf(name);
  const ending = disguise && tail.toLowerCase().lastIndexOf(`.${disguise.is}`);
  const end =
    ending === undefined ? (
      tail
    ) : (
      <>
        {tail.slice(0, ending)}
        <mark className="file-name__program">{tail.slice(ending)}</mark>
      </>
    );
  if (head === undefined)
    return (
      <bdi className="file-name" title={whole}>
        {end}
      </bdi>
    );
  return (
    <bdi className="file-name" data-long="true" title={whole}>
      {/* Read, searched and copied as one; drawn in two. */}
      <span className="visually-hidden">{whole}</span>
      <span className="file-name__head" aria-hidden="true">
        {head}
      </span>
      <bdi className="file-name__tail" aria-hidden="true">
        {end}
      </bdi>
    </bdi>
  );
}
