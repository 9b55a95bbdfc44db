import type { Point } from '@palisade/contract/remote-signal';
import {
  IconArrowsMaximize,
  IconArrowsMinimize,
  IconAspectRatio,
  IconEraser,
  IconPencil,
  IconPlayerPause,
  IconPointer,
} from '@tabler/icons-react';
import { type PointerEvent, type RefObject, useEffect, useRef, useState } from 'react';
import { Button } from '#ui/button.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { describeClock, useSecond } from '#ui/moment.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { MarkedPicture } from './marked-picture.tsx';
import { type Mark, type Marks, NO_MARKS, placeIn, withMark } from './marks.ts';
import type { Picture } from './peer.ts';
import './watched-picture.css';

/** Time without a frame after which the picture counts as still, in ms. A screen without changes sends about one frame per second. */
const STILL_AFTER = 5_000;
/** Shortest interval between two pointer messages, in ms, about one frame of most screens. */
const POINTED_EVERY = 16;

interface WatchedPictureProps {
  picture: Picture;
  customer: string;
  isPaused: boolean;
  /** Notice over the picture while it is unreliable. */
  trouble: string | undefined;
  /** Connects again; undefined while a connection exists. */
  onAgain: (() => void) | undefined;
  mark: (mark: Mark) => boolean;
}

/** The customer's picture with the technician's tools. */
export function WatchedPicture({ picture, customer, isPaused, trouble, onAgain, mark }: WatchedPictureProps) {
  const [tool, setTool] = useState<'point' | 'draw'>('point');
  const [scale, setScale] = useState<'fit' | 'own'>('fit');
  const [frame_at, setFrameAt] = useState<number>();
  const frame = useRef<HTMLDivElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const isFull = useIsFull(frame);
  const marking = useMarking(box, tool, mark);
  const lastFrame = useRef(0);

  function takeFrame(at: number) {
    // Two updates per second are enough, because the screen shows whole seconds.
    if (at - lastFrame.current < 500) return;
    lastFrame.current = at;
    setFrameAt(at);
  }

  return (
    <Grid ref={frame} className="watched" data-full={isFull}>
      <Row gap="1" className="watched__tools pad-s line-below" role="toolbar" aria-label="The picture">
        <Tool icon={IconPointer} label="Point" isOn={tool === 'point'} onPress={() => setTool('point')} />
        <Tool icon={IconPencil} label="Draw" isOn={tool === 'draw'} onPress={() => setTool('draw')} />
        <Tool icon={IconEraser} label="Wipe the drawing" onPress={marking.erase} />
        <span className="grow" />
        {onAgain && (
          <Button variant="quiet" size="s" onClick={onAgain}>
            Try again
          </Button>
        )}
        <Tool
          icon={IconAspectRatio}
          label="1:1"
          isOn={scale === 'own'}
          onPress={() => setScale(scale === 'own' ? 'fit' : 'own')}
        />
        <Tool
          icon={isFull ? IconArrowsMinimize : IconArrowsMaximize}
          label="Full screen"
          isOn={isFull}
          onPress={() => void (isFull ? document.exitFullscreen() : frame.current?.requestFullscreen())}
        />
      </Row>
      {/* Marks need a pointing device; keyboard users have the chat. */}
      <div className="watched__picture" data-tool={tool} {...marking.handlers}>
        <MarkedPicture
          track={picture.track}
          marks={marking.marks}
          label={`The screen of ${customer}`}
          scale={scale}
          box={box}
          onFrame={takeFrame}
        />
        {isPaused && (
          <Stack as="p" gap="2" align="center" className="watched__paused pad-l centered medium" role="status">
            <IconPlayerPause size={28} stroke={1.7} aria-hidden="true" />
            <span>
              <Sentence
                text="{customer} has paused. You see their screen again when they want you to."
                parts={{ customer: <bdi>{customer}</bdi> }}
              />
            </span>
          </Stack>
        )}
        {!isPaused && (trouble !== undefined || frame_at !== undefined) && <Still frame_at={frame_at} trouble={trouble} />}
      </div>
    </Grid>
  );
}

/** Age of the picture, once it is still. */
function Still({ frame_at, trouble }: { frame_at: number | undefined; trouble: string | undefined }) {
  const now = useSecond();
  const isStill = frame_at !== undefined && now - frame_at > STILL_AFTER;
  if (trouble === undefined && !isStill) return null;
  return (
    <p className="watched__still pad-s small centered" role="status">
      {frame_at !== undefined && `Still picture of ${describeClock(frame_at)}. `}
      {trouble ?? 'Nothing has moved since.'}
    </p>
  );
}

interface ToolProps {
  icon: typeof IconPointer;
  label: string;
  isOn?: boolean;
  onPress: () => void;
}

function Tool({ icon: Icon, label, isOn, onPress }: ToolProps) {
  return (
    <button
      type="button"
      className="watched__tool icon-button"
      aria-label={label}
      title={label}
      aria-pressed={isOn}
      onClick={onPress}
    >
      <Icon size={18} stroke={1.7} aria-hidden="true" />
    </button>
  );
}

function useIsFull(frame: RefObject<HTMLElement | null>): boolean {
  const [isFull, setIsFull] = useState(false);
  useEffect(() => {
    const look = () => setIsFull(document.fullscreenElement !== null && document.fullscreenElement === frame.current);
    document.addEventListener('fullscreenchange', look);
    return () => document.removeEventListener('fullscreenchange', look);
  }, [frame]);
  return isFull;
}

/** Counters of the sent marks, and the unfinished line. */
interface Drawing {
  order: number;
  id: number;
  told_at: number;
  /** The line that is being drawn. */
  line: { id: number; points: Point[] } | undefined;
}

/** Marks of the technician by mouse, pen or finger: sent to the customer, and drawn here the same way. */
function useMarking(box: RefObject<HTMLElement | null>, tool: 'point' | 'draw', mark: (mark: Mark) => boolean) {
  const [marks, setMarks] = useState<Marks>(NO_MARKS);
  const state = useRef<Drawing>({ order: 0, id: 0, told_at: 0, line: undefined });

  function show(told: Mark): void {
    if (mark(told)) setMarks((before) => withMark(before, told));
  }

  function placeOf({ clientX: x, clientY: y }: PointerEvent): Point | null {
    const area = box.current?.getBoundingClientRect();
    return area ? placeIn(area, { x, y }) : null;
  }

  function point(at: Point | null): void {
    const now = performance.now();
    if (at !== null && now - state.current.told_at < POINTED_EVERY) return;
    state.current.told_at = now;
    state.current.order += 1;
    show({ kind: 'pointer', order: state.current.order, at });
  }

  function draw(at: Point | null): void {
    const { line } = state.current;
    if (!line || at === null) return;
    line.points.push(at);
    show({ kind: 'stroke', id: line.id, from: line.points.length - 1, points: [at] });
  }

  return {
    marks: { ...marks, pointer: null },
    erase() {
      show({ kind: 'erase', id: state.current.id });
      state.current.id += 1;
    },
    handlers: {
      onPointerDown(event: PointerEvent<HTMLElement>) {
        if (tool !== 'draw' || event.button !== 0) return;
        event.preventDefault();
        state.current.id += 1;
        state.current.line = { id: state.current.id, points: [] };
        draw(placeOf(event));
      },
      onPointerMove(event: PointerEvent<HTMLElement>) {
        const at = placeOf(event);
        point(at);
        draw(at);
      },
      onPointerUp() {
        state.current.line = undefined;
      },
      onPointerLeave() {
        state.current.line = undefined;
        point(null);
      },
    },
  };
}
