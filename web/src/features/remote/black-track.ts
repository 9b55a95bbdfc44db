/** Size of the black picture in pixels; the technician's page scales it. */
const SIZE = { width: 320, height: 180 } as const;
/** Interval at which the canvas is redrawn, in ms: an encoder sends no frames of an unchanged canvas. */
const DRAWN_EVERY = 250;

export interface BlackTrack {
  track: MediaStreamTrack;
  stop: () => void;
}

/** A black picture that replaces the shared one while the customer pauses. A frozen picture would still show content. */
export function createBlackTrack(): BlackTrack | undefined {
  const canvas = Object.assign(document.createElement('canvas'), SIZE);
  const context = canvas.getContext('2d');
  const draw = () => {
    if (!context) return;
    context.fillStyle = '#000';
    context.fillRect(0, 0, SIZE.width, SIZE.height);
  };
  draw();
  const [track] = canvas.captureStream().getVideoTracks();
  if (!track) return undefined;
  const timer = setInterval(draw, DRAWN_EVERY);
  return {
    track,
    stop() {
      clearInterval(timer);
      track.stop();
    },
  };
}
