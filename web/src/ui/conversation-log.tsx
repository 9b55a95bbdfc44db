import { idSchema } from '@palisade/contract/fields';
import { IconArrowDown } from '@tabler/icons-react';
import { memo, type ReactNode, type RefObject, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import { useLocation, useSearchParams } from 'react-router';
import { sentenceOf } from '#api/call.ts';
import { Button } from './button.tsx';
import { MessageText } from './message-text.tsx';
import { dayOf, describeConversationDay, TimeOfDay, useMinute } from './moment.tsx';
import { ErrorNotice, LoadingRows } from './states.tsx';
import './conversation-log.css';

/** One rendered message. */
export interface ConversationLine {
  /** Stays the same before and after the server has confirmed the message, so that React keeps its element. */
  key: string;
  /** Id of a confirmed message, for jumps. */
  id?: string;
  at: string;
  who: string;
  /** `own`: this side; `note`: staff only; `notice`: automatic. */
  side: 'own' | 'other' | 'note' | 'notice';
  mark?: string | undefined;
  text: string;
  /** Files and cards. */
  below?: ReactNode;
  /** Delivery state: "Read", or the reason of a failure. */
  state?: ReactNode;
}

interface ConversationLogProps {
  label: string;
  /** Oldest first; undefined while loading. */
  lines: readonly ConversationLine[] | undefined;
  error: Error | null;
  onRetry: () => unknown;
  /** Loading of earlier messages. `hasFailed`: they are loaded only on request, because automatic loading failed. */
  older: { isThere: boolean; isLoading: boolean; hasFailed: boolean; onRead: () => unknown };
  empty: ReactNode;
  /** The message that the address names (`useJump`). */
  jump?: Jump | undefined;
  /** Called with the key of the newest line when it comes into view. */
  onSeen?: (key: string) => void;
}

interface Day {
  day: number;
  lines: ConversationLine[];
}

function daysOf(lines: readonly ConversationLine[]): Day[] {
  const days: Day[] = [];
  for (const line of lines) {
    const day = dayOf(line.at);
    const last = days.at(-1);
    // The server decides the order, so a clock that was set back does not start an earlier day again.
    if (last && day <= last.day) last.lines.push(line);
    else days.push({ day, lines: [line] });
  }
  return days;
}

/** Time for which inserted older messages are not announced, in ms. */
const QUIET = 600;
/** Distance from the end within which the person still reads the newest message, in px. */
const AT_END = 80;
/** Height of the fade at the upper edge, in px. */
const EDGE = 16;

/** True while older or initial messages are inserted, so that they are not announced as new. */
function useIsQuiet(oldest: string | undefined): boolean {
  const [quiet, setQuiet] = useState({ oldest, isQuiet: true });
  // Set during the same render that inserts them.
  if (quiet.oldest !== oldest) setQuiet({ oldest, isQuiet: true });
  useEffect(() => {
    const timer = setTimeout(() => setQuiet({ oldest, isQuiet: false }), QUIET);
    return () => clearTimeout(timer);
  }, [oldest]);
  return quiet.isQuiet;
}

/** Calls `onRead` when the element comes into view. */
function useReadOnSight(place: RefObject<HTMLElement | null>, isWanted: boolean, onRead: () => unknown): void {
  const read = useRef(onRead);
  read.current = onRead;
  useEffect(() => {
    if (!isWanted || !place.current) return undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) read.current();
      },
      { root: place.current.closest('.messages'), rootMargin: '160px 0px 0px' },
    );
    observer.observe(place.current);
    return () => observer.disconnect();
  }, [isWanted, place]);
}

/** The message to show. `visit` differs for each navigation, so the same message can be shown again. */
interface Jump {
  to: string;
  visit: string;
}

/** The message that the address names with `?message=`, as search results do. */
export function useJump(): Jump | undefined {
  const [search] = useSearchParams();
  const { key: visit } = useLocation();
  const to = idSchema.safeParse(search.get('message')).data;
  return to === undefined ? undefined : { to, visit };
}

/** Height of the person's own message that stays in view above a long answer, in px. */
const OWN_SHOWN = 96;

/** Scrolls to the end. Above an answer that is taller than the view, the end of the own message stays in view. */
function scrollToNewest(scroller: HTMLElement, isAnswered: boolean): void {
  scroller.scrollTop = 0;
  const own = isAnswered ? [...scroller.querySelectorAll('[data-from="own"]')].at(-1) : undefined;
  if (own === undefined) return;
  const { top, bottom } = own.getBoundingClientRect();
  const hidden = scroller.getBoundingClientRect().top - Math.max(top, bottom - OWN_SHOWN);
  if (hidden > 0) scroller.scrollTop = -hidden - EDGE;
}

/** Shows the requested message once: loads older pages until it is there, scrolls it to the middle and focuses it. */
function useGoTo(
  jump: Jump | undefined,
  scroller: RefObject<HTMLElement | null>,
  lines: readonly ConversationLine[] | undefined,
  older: ConversationLogProps['older'],
): void {
  const gone = useRef<string>(undefined);
  useEffect(() => {
    if (jump === undefined || lines === undefined || gone.current === jump.visit) return;
    if (!lines.some(({ id }) => id === jump.to)) {
      if (older.isThere && !older.isLoading && !older.hasFailed) older.onRead();
      return;
    }
    const message = scroller.current?.querySelector<HTMLElement>(`[data-message="${jump.to}"]`);
    if (!message) return;
    gone.current = jump.visit;
    message.scrollIntoView({ block: 'center' });
    message.focus({ preventScroll: true });
  }, [jump, scroller, lines, older]);
}

/** The messages of a conversation. Scrolling up loads older ones, and a new message never moves the view of a person who reads further up. */
export function ConversationLog({ label, lines, error, onRetry, older, empty, jump, onSeen }: ConversationLogProps) {
  const now = useMinute();
  const scroller = useRef<HTMLDivElement>(null);
  const earlier = useRef<HTMLDivElement>(null);
  const [hasNewBelow, setHasNewBelow] = useState(false);
  const isQuiet = useIsQuiet(lines && (lines[0]?.key ?? ''));
  useReadOnSight(earlier, older.isThere && !older.isLoading && !older.hasFailed, older.onRead);
  const newest = lines?.at(-1);
  const isAnswered = newest?.side === 'other' && lines?.at(-2)?.side === 'own';

  function noteSeen() {
    setHasNewBelow(false);
    if (newest) onSeen?.(newest.key);
  }

  function showNewest() {
    if (scroller.current) scrollToNewest(scroller.current, isAnswered);
    noteSeen();
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when a new message has arrived
  useLayoutEffect(() => {
    const isAtEnd = (scroller.current?.scrollTop ?? 0) > -AT_END;
    if (isAtEnd || newest?.side === 'own') showNewest();
    else setHasNewBelow(true);
  }, [newest?.key]);

  useGoTo(jump, scroller, lines, older);

  return (
    <div className="messages-frame">
      <div
        ref={scroller}
        className="messages"
        role="log"
        aria-live={isQuiet ? 'off' : 'polite'}
        aria-relevant="additions"
        aria-label={label}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable by keyboard
        tabIndex={0}
        onScroll={({ currentTarget }) => {
          if (currentTarget.scrollTop > -AT_END) noteSeen();
        }}
      >
        <div className="messages__content fixed">
          {error && (
            <ErrorNotice title="We couldn’t load the conversation" sentence={sentenceOf(error)} onRetry={() => void onRetry()} />
          )}
          {!lines && !error && <LoadingRows label="Loading the conversation" />}
          {older.isThere && (
            <div ref={earlier} className="messages__earlier fixed">
              <Button variant="text" size="s" loading={older.isLoading} onClick={() => void older.onRead()}>
                Show earlier messages
              </Button>
            </div>
          )}
          {lines?.length === 0 && empty}
          {lines &&
            daysOf(lines).map(({ day, lines: ofDay }) => <DayOfMessages key={day} lines={ofDay} now={now} found={jump?.to} />)}
        </div>
      </div>
      {hasNewBelow && (
        <button type="button" className="messages__new round accent pointer" onClick={showNewest}>
          <IconArrowDown size={16} stroke={2} aria-hidden="true" />
          New messages
        </button>
      )}
    </div>
  );
}

function DayOfMessages({ lines, now, found }: { lines: readonly ConversationLine[]; now: number; found: string | undefined }) {
  const id = useId();
  const first = lines[0]?.at ?? '';
  return (
    <div className="messages__day">
      <p id={id} className="messages__date tiny faint">
        <time dateTime={first.slice(0, 10)}>{describeConversationDay(first, now)}</time>
      </p>
      <ol className="messages__list" aria-labelledby={id}>
        {lines.map((line) => (
          <Message key={line.key} line={line} isFound={line.id !== undefined && line.id === found} />
        ))}
      </ol>
    </div>
  );
}

const Message = memo(function Message({ line, isFound }: { line: ConversationLine; isFound: boolean }) {
  if (line.side === 'notice')
    return (
      <li className="message" data-from="notice">
        <p className="message__notice tiny muted centered">
          {line.text} <TimeOfDay iso={line.at} />
        </p>
        {line.below}
      </li>
    );
  return (
    <li className="message" data-from={line.side} data-message={line.id} data-found={isFound} tabIndex={isFound ? -1 : undefined}>
      <p className="message__who tiny faint">
        <b>
          <bdi>{line.who}</bdi>
        </b>
        {line.mark !== undefined && <span className="message__mark rounded-s muted">{line.mark}</span>}
        <TimeOfDay iso={line.at} />
      </p>
      {line.text !== '' && (
        <div className="message__text base" dir="auto">
          <MessageText text={line.text} />
        </div>
      )}
      {line.below}
      {line.state && <div className="message__state tiny muted">{line.state}</div>}
    </li>
  );
});

/** Shows that a person is typing. It is not a message, and is announced once. */
export function Typing({ who }: { who: string }) {
  return (
    <p className="messages__typing small muted" role="status">
      <span className="messages__dots" aria-hidden="true">
        <i />
        <i />
        <i />
      </span>
      {who}
    </p>
  );
}
