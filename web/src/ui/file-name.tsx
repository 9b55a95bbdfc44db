import './file-name.css';

// Controls that turn or hide text make "gpj.exe" read as "exe.jpg": they are shown as what they are, something unprintable.
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** A name that a stranger chose: text only, cut off from the direction of the text around it, broken anywhere. */
export function FileName({ name }: { name: string }) {
  const shown = name.replace(UNPRINTABLE, '\uFFFD') || 'Unnamed file';
  return (
    <bdi className="file-name" title={shown}>
      {shown}
    </bdi>
  );
}
