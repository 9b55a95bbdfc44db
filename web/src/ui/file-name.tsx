import './file-name.css';
import { shownNameOf } from './shown-name.ts';

/**
 * A file name from an untrusted source, as isolated text (`bdi`). A long name is shortened in the middle, so that its extension is always visible.
 * The extension of a program that is named like a document is marked.
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
        <mark className="file-name__program amber">{tail.slice(ending)}</mark>
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
      {/* Screen readers, search and copy use the whole name; the visible name is in two parts. */}
      <span className="visually-hidden">{whole}</span>
      <span className="file-name__head" aria-hidden="true">
        {head}
      </span>
      <bdi className="fixed" aria-hidden="true">
        {end}
      </bdi>
    </bdi>
  );
}
