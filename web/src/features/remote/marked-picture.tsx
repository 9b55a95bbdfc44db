import { type ReactNode, type Ref, useEffect, useRef, useState } from 'react';
import { type Marks, pathOf } from './marks.ts';
import './marked-picture.css';

interface MarkedPictureProps {
  track: MediaStreamTrack;
  /** Marks on it. */
  marks: Marks;
  label: string;
  /** Whole, or each pixel of it one of this screen. */
  scale?: 'fit' | 'own';
  /** The box that the picture fills, for who presses on it. */
  box?: Ref<HTMLDivElement>;
  /** Called with each frame that is shown, at most; the time is in ms since 1970. */
  onFrame?: (at: number) => void;
  children?: ReactNode;
}

/** As wide as it is high, until the first frame tells. */
const USUAL = { width: 16, height: 9 };

/** A picture that comes, with the pointer and the lines of the technician over it, whole and in its own shape. */
export function MarkedPicture({ track, marks, label, scale = 'fit', box, onFrame, children }: MarkedPictureProps) {
  const video = useRef<HTMLVideoElement>(null);
  const [size, setSize] = useState(USUAL);
  useEffect(() => {
    const element = video.current;
    if (!element) return undefined;
    element.srcObject = new MediaStream([track]);
    return () => {
      element.srcObject = null;
    };
  }, [track]);
  useFrames(video, onFrame);
  const ratio = size.width / size.height;
  const width = scale === 'own' ? size.width / window.devicePixelRatio : `min(100cqw, calc(100cqh * ${ratio}))`;
  return (
    <div className="picture" data-scale={scale}>
      <div ref={box} className="picture__box" style={{ aspectRatio: `${ratio}`, width }}>
        <video
          ref={video}
          autoPlay
          playsInline
          muted
          aria-label={label}
          onResize={({ currentTarget: { videoWidth: width, videoHeight: height } }) => {
            if (width > 0 && height > 0) setSize({ width, height });
          }}
        />
        <svg className="picture__marks" viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true">
          {marks.lines.map((line) => (
            <path key={line.id} d={pathOf(line)} />
          ))}
        </svg>
        {marks.pointer && (
          <span
            className="picture__pointer"
            style={{ left: `${marks.pointer.x * 100}%`, top: `${marks.pointer.y * 100}%` }}
            aria-hidden="true"
          />
        )}
        {children}
      </div>
    </div>
  );
}

/** Tells of frames as they are shown; a browser that cannot tells nothing. */
function useFrames(video: { current: HTMLVideoElement | null }, onFrame: ((at: number) => void) | undefined): void {
  const told = useRef(onFrame);
  told.current = onFrame;
  useEffect(() => {
    const element = video.current;
    if (!element || !('requestVideoFrameCallback' in element)) return undefined;
    let handle = 0;
    const next = () => {
      told.current?.(Date.now());
      handle = element.requestVideoFrameCallback(next);
    };
    handle = element.requestVideoFrameCallback(next);
    return () => element.cancelVideoFrameCallback(handle);
  }, [video]);
}
