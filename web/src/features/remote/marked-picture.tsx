import { type ReactNode, type Ref, useEffect, useRef, useState } from 'react';
import { type Marks, pathOf } from './marks.ts';
import './marked-picture.css';

interface MarkedPictureProps {
  track: MediaStreamTrack;
  /** Marks over the picture. */
  marks: Marks;
  label: string;
  /** `fit`: the whole picture. `own`: one picture pixel for each CSS pixel. */
  scale?: 'fit' | 'own';
  /** The element that the picture fills, for pointer positions. */
  box?: Ref<HTMLDivElement>;
  /** Called for shown frames; `at` is in ms since 1970. The browser may skip frames. */
  onFrame?: (at: number) => void;
  children?: ReactNode;
}

/** Aspect ratio until the first frame reports the real one. */
const USUAL = { width: 16, height: 9 };

/** A received picture in its own aspect ratio, with the technician's pointer and lines over it. */
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
    <div className="picture center full" data-scale={scale}>
      <div ref={box} className="picture__box fixed" style={{ aspectRatio: `${ratio}`, width }}>
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
        <svg className="picture__marks full" viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true">
          {marks.lines.map((line) => (
            <path key={line.id} d={pathOf(line)} />
          ))}
        </svg>
        {marks.pointer && (
          <span
            className="picture__pointer round"
            style={{ left: `${marks.pointer.x * 100}%`, top: `${marks.pointer.y * 100}%` }}
            aria-hidden="true"
          />
        )}
        {children}
      </div>
    </div>
  );
}

/** Calls `onFrame` for shown frames; browsers without this feature never call it. */
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
