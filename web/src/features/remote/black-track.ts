/** Of a picture that shows nothing; the technician's page stretches it. */
const SIZE = { width: 320, height: 180 } as const;
/** An encoder sends nothing of a picture that is never drawn anew, ms. */
const DRAWN_EVERY = 250;

export interface BlackTrack {
  track: MediaStreamTrack;
  stop: () => void;
}

/** A picture of nothing, which takes the place of the shared one while the customer pauses: a frozen picture would still show what it shows. */
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
