import { IconSearch } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { useSession } from '#api/session.ts';
import { Row } from '#ui/layout.tsx';
import { lazyPart } from '#ui/lazy-part.tsx';

const loadPalette = () => import('./palette/palette.tsx');
const Palette = lazyPart(async () => (await loadPalette()).Palette);

const IS_APPLE = /Mac|iPhone|iPad/u.test(navigator.userAgent);

/** Opens the palette, like Ctrl-K or Command-K. Loads its file on hover or focus. */
export function PaletteButton() {
  const user = useSession().session?.user_info;
  const [isOpen, setIsOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  /** Letters typed while the palette's file loads. */
  const typed = useRef('');

  useEffect(() => {
    if (!isOpen) return;
    const keep = (event: KeyboardEvent) => {
      const isLetter = event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey;
      if (!isLetter || document.querySelector('dialog.palette') !== null) return;
      event.preventDefault();
      typed.current += event.key;
    };
    window.addEventListener('keydown', keep);
    return () => {
      window.removeEventListener('keydown', keep);
      typed.current = '';
    };
  }, [isOpen]);

  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
      // Not over another dialog, which the palette would leave.
      if (document.querySelector('[role="dialog"], dialog[open]')) return;
      event.preventDefault();
      setIsOpen(true);
    };
    window.addEventListener('keydown', listen);
    return () => window.removeEventListener('keydown', listen);
  }, []);

  return (
    <>
      <Row
        ref={button}
        type="button"
        as="button"
        inline
        gap="2"
        className="palette-button rounded-s muted pointer"
        aria-haspopup="dialog"
        aria-keyshortcuts="Control+K Meta+K"
        onPointerEnter={() => void loadPalette()}
        onFocus={() => void loadPalette()}
        onClick={() => setIsOpen(true)}
      >
        <IconSearch size={18} stroke={1.7} aria-hidden="true" />
        <span className="unseen-phone">Search</span>
        <span className="palette-button__keys faint off-phone" aria-hidden="true">
          {IS_APPLE ? '⌘K' : 'Ctrl K'}
        </span>
      </Row>

      {isOpen && user && (
        <Palette
          user={user}
          early={typed}
          onClose={() => {
            setIsOpen(false);
            button.current?.focus();
          }}
        />
      )}
    </>
  );
}
