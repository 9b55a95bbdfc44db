import RFB from '@novnc/novnc';
import type { JoinedSession } from '@palisade/contract/remote';
import { pairedSchema, RFB_CLOSED, VIEWER_PATH } from '@palisade/contract/remote-control';
import { useEffect, useRef, useState } from 'react';
import { currentSession } from '#api/session.ts';
import { Button } from '#ui/button.tsx';
import { Grid, Row } from '#ui/layout.tsx';
import { SharedClipboard } from './shared-clipboard.tsx';
import './controlled-screen.css';

const AGAIN_MS = 500;

/** Bits of the extended clipboard (rfbproto): the format of text, and the action that announces it. noVNC sends Latin-1 to a server without both. */
const TEXT = 1;
const NOTIFY = 1 << 27;

function takesExtended(rfb: RFB): boolean {
  return rfb._clipboardServerCapabilitiesFormats[TEXT] === true && rfb._clipboardServerCapabilitiesActions[NOTIFY] === true;
}

type State = 'waiting' | 'connected' | 'ended';

function jsonOf(text: unknown): unknown {
  try {
    return typeof text === 'string' ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

/** The screen of a device, seen and controlled through its agent. Loaded at the first grant, because noVNC is large. */
export function ControlledScreen({ session, device_name }: { session: JoinedSession; device_name: string }) {
  const stage = useRef<HTMLDivElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  const rfb = useRef<RFB>(undefined);
  const [state, setState] = useState<State>('waiting');
  const [copied, setCopied] = useState('');
  const [turn, setTurn] = useState(0);
  const hasControl = session.grants.some(({ grant }) => grant === 'control');
  const hasClipboard = session.grants.some(({ grant }) => grant === 'clipboard');
  const { id } = session;

  useEffect(() => {
    const target = stage.current;
    const token = currentSession()?.access_token;
    if (!target || token === undefined || turn < 0) return;
    let again: ReturnType<typeof setTimeout> | undefined;
    const url = new URL(`/api${VIEWER_PATH}`, window.location.href);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    const socket = new WebSocket(url);
    socket.binaryType = 'arraybuffer';
    const hear = ({ data }: MessageEvent<unknown>) => {
      if (!pairedSchema.safeParse(jsonOf(data)).success) return;
      socket.removeEventListener('message', hear);
      const made = new RFB(target, socket, { shared: true });
      made.scaleViewport = true;
      made.background = 'transparent';
      made.addEventListener('connect', () => setState('connected'));
      made.addEventListener('clipboard', (event) => {
        if (event instanceof CustomEvent) setCopied(String(event.detail.text));
      });
      rfb.current = made;
    };
    socket.addEventListener('open', () => socket.send(JSON.stringify({ kind: 'hello', access_token: token, session_id: id })));
    socket.addEventListener('message', hear);
    socket.addEventListener('close', ({ code }) => {
      setState('ended');
      rfb.current = undefined;
      if (code === RFB_CLOSED.again || code === RFB_CLOSED.going_away)
        again = setTimeout(() => {
          setState('waiting');
          setTurn(turn + 1);
        }, AGAIN_MS);
    });
    return () => {
      clearTimeout(again);
      const made = rfb.current;
      rfb.current = undefined;
      if (made) made.disconnect();
      else socket.close();
    };
  }, [id, turn]);

  useEffect(() => {
    if (rfb.current) rfb.current.viewOnly = !hasControl;
  });

  const words = {
    waiting: `Waiting for ${device_name}.`,
    connected: hasControl
      ? `You control ${device_name}. Keys go there while its screen has the focus.`
      : `You can see ${device_name}, but not control it.`,
    ended: 'Control is off. The picture that the customer shares stays.',
  };
  return (
    <Grid as="section" gap="2" className="controlled" ref={frame} aria-label={`Screen of ${device_name}`}>
      <Row gap="2" className="controlled__bar">
        <p role="status">{words[state]}</p>
        {state === 'connected' && hasControl && (
          <>
            <Button variant="quiet" size="s" onClick={() => rfb.current?.focus()}>
              Send keys there
            </Button>
            <Button variant="quiet" size="s" onClick={() => rfb.current?.blur()}>
              Keep keys here
            </Button>
          </>
        )}
        <Button
          variant="quiet"
          size="s"
          onClick={() => void (document.fullscreenElement ? document.exitFullscreen() : frame.current?.requestFullscreen())}
        >
          Full screen
        </Button>
        {state === 'ended' && (
          <Button variant="quiet" size="s" onClick={() => setTurn(turn + 1)}>
            Connect again
          </Button>
        )}
      </Row>
      <div className="controlled__stage" ref={stage} />
      {hasClipboard && (
        <SharedClipboard
          device_name={device_name}
          value={copied}
          takesAllLetters={() => rfb.current !== undefined && takesExtended(rfb.current)}
          onChange={setCopied}
          onSend={(text) => rfb.current?.clipboardPasteFrom(text)}
        />
      )}
    </Grid>
  );
}
