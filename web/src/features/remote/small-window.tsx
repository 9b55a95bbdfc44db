import { useEffect, useRef, useState } from 'react';
import { createPortal } from 'react-dom';
import { Grid } from '#ui/layout.tsx';
import { MarkedPicture } from './marked-picture.tsx';
import type { Sharing } from './sharing.ts';
import { PauseAndEnd, useSharingKeys } from './sharing-banner.tsx';

/** https://wicg.github.io/document-picture-in-picture/, missing in TypeScript's DOM types. */
interface DocumentPictureInPicture {
  requestWindow(options: { width: number; height: number }): Promise<Window>;
}

declare global {
  interface Window {
    documentPictureInPicture?: DocumentPictureInPicture;
  }
}

const SIZE = { width: 420, height: 320 } as const;

/** Whether this browser supports always-on-top windows of a page. */
export function hasSmallWindow(): boolean {
  return window.documentPictureInPicture !== undefined;
}

/** Copies the page's styles and colour scheme. */
function dress(small: Window): void {
  for (const sheet of document.querySelectorAll<HTMLLinkElement | HTMLStyleElement>('link[rel="stylesheet"], style')) {
    const copy = small.document.importNode(sheet, true);
    if (sheet instanceof HTMLLinkElement && copy instanceof HTMLLinkElement) copy.href = sheet.href;
    small.document.head.append(copy);
  }
  const scheme = document.documentElement.dataset['mantineColorScheme'];
  if (scheme !== undefined) small.document.documentElement.dataset['mantineColorScheme'] = scheme;
  small.document.title = document.title;
}

/** An always-on-top window with the picture, the technician's marks, Pause and End session. */
export function SmallWindow({ sharing, onClose }: { sharing: Sharing; onClose: () => void }) {
  const [small, setSmall] = useState<Window>();
  const close = useRef(onClose);
  close.current = onClose;
  useEffect(() => {
    let opened: Window | undefined;
    let isOver = false;
    window.documentPictureInPicture?.requestWindow(SIZE).then(
      (asked) => {
        opened = asked;
        if (isOver) {
          asked.close();
          return;
        }
        dress(asked);
        asked.addEventListener('pagehide', () => close.current(), { once: true });
        setSmall(asked);
      },
      // The browser requires a press, and the person may have forbidden such windows.
      () => close.current(),
    );
    return () => {
      isOver = true;
      opened?.close();
    };
  }, []);
  return small && createPortal(<Small sharing={sharing} target={small} />, small.document.body);
}

function Small({ sharing, target }: { sharing: Sharing; target: Window }) {
  useSharingKeys(sharing.isPaused, target);
  const [screen] = sharing.screens;
  return (
    <Grid className="small-window">
      <div>
        {screen && (
          <MarkedPicture track={screen.track} marks={screen.marks} label="What you share">
            {sharing.isPaused && <p className="mirror__paused center pad-m bold centered">Paused: the technician sees black</p>}
          </MarkedPicture>
        )}
      </div>
      <PauseAndEnd isPaused={sharing.isPaused} />
    </Grid>
  );
}
