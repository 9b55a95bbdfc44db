import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { Button } from './button.tsx';
import { Refusal } from './refusal.tsx';

const COPIED_FOR_MS = 2_000;

/** Copies text with `execCommand`, because `navigator.clipboard` exists only over https and on localhost. Returns whether it worked. */
function copyBySelection(text: string): boolean {
  const copyText = (event: ClipboardEvent) => {
    event.clipboardData?.setData('text/plain', text);
    event.preventDefault();
    // Mantine's dialog also listens to this event.
    event.stopImmediatePropagation();
  };
  // Chromium requires a selection to copy.
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
  // TypeScript's types declare it as always present, but insecure pages lack it.
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
  /** Announcement for screen readers: "The session code was copied." */
  copied: string;
  label?: string;
  variant?: 'primary' | 'quiet';
  size?: 's' | 'm';
}

/** Copies a visible text, and reports if the browser refused. */
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
