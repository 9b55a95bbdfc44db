import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { Button } from './button.tsx';
import { Refusal } from './refusal.tsx';

const COPIED_FOR_MS = 2_000;

/** Copies a text the way browsers did before `navigator.clipboard`, which is there by https and on this computer alone. Answers whether the browser did. */
function copyBySelection(text: string): boolean {
  const copyText = (event: ClipboardEvent) => {
    event.clipboardData?.setData('text/plain', text);
    event.preventDefault();
    // A dialog of the kit listens too.
    event.stopImmediatePropagation();
  };
  // Chromium copies nothing where nothing is selected.
  const span = document.createElement('span');
  span.textContent = text;
  span.className = 'visually-hidden';
  document.body.append(span);
  const selection = window.getSelection();
  const before = selection && selection.rangeCount > 0 ? selection.getRangeAt(0) : undefined;
  document.addEventListener('copy', copyText, true);
  try {
    selection?.selectAllChildren(span);
    return document.execCommand('copy');
  } catch {
    return false;
  } finally {
    document.removeEventListener('copy', copyText, true);
    selection?.removeAllRanges();
    if (before) selection?.addRange(before);
    span.remove();
  }
}

async function copyText(text: string): Promise<boolean> {
  // The types of the browser hold it to be always there.
  const clipboard: Clipboard | undefined = navigator.clipboard;
  if (clipboard === undefined) return copyBySelection(text);
  try {
    await clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

interface CopyButtonProps {
  text: string;
  /** The sentence for screen readers afterwards: "The session code was copied." */
  copied: string;
  label?: string;
  variant?: 'primary' | 'quiet';
  size?: 's' | 'm';
}

/** Copies a text that is shown beside it, and says when the browser did not allow that. */
export function CopyButton({ text, copied, label = 'Copy', variant = 'quiet', size = 'm' }: CopyButtonProps) {
  const [outcome, setOutcome] = useState<'copied' | 'refused'>();
  useEffect(() => {
    if (outcome !== 'copied') return;
    const timer = setTimeout(() => setOutcome(undefined), COPIED_FOR_MS);
    return () => clearTimeout(timer);
  }, [outcome]);
  const isCopied = outcome === 'copied';
  return (
    <>
      <Button
        variant={variant}
        size={size}
        icon={isCopied ? IconCheck : IconCopy}
        onClick={() => void copyText(text).then((isDone) => setOutcome(isDone ? 'copied' : 'refused'))}
      >
        {isCopied ? 'Copied' : label}
      </Button>
      <span role="status" className="visually-hidden">
        {isCopied && copied}
      </span>
      <Refusal error={outcome === 'refused'}>Your browser blocked copying. Select the text and copy it yourself.</Refusal>
    </>
  );
}
