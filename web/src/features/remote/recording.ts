import { beginRecording, RECORDING_BYTES_MAXIMUM, type SessionFile, sendRecording } from '@palisade/contract/remote-files';
import { useSyncExternalStore } from 'react';
import { call, sentenceOf, upload } from '#api/call.ts';
import { createListeners } from '#api/listeners.ts';

/** The recording of this page, or its upload. It outlives the screen of the session, because the upload finishes after the session. */
export interface Recording {
  session_id: string;
  phase: 'beginning' | 'recording' | 'sending' | 'sent' | 'empty' | 'failed';
  /** At least one picture is in it. A slow computer needs seconds for the first. */
  hasPicture: boolean;
  /** The customer has paused, and so has the recording. */
  isPaused: boolean;
  /** Share of the upload that has been sent, from 0 to 1. */
  share: number;
  /** The recording stopped at its maximum size. */
  isFull: boolean;
  sentence: string | undefined;
}

/** Bit rate limit; a still screen needs less. 200 MB hold half an hour. */
const BITS_PER_SECOND = 900_000;
/** Interval at which the browser delivers recorded data, in ms. */
const PIECE = 1_000;
/** Room for the end of the container and for data that arrives while the recorder stops. */
const SLACK_BYTES = 4 * 1024 * 1024;
const TYPES = ['video/webm;codecs=vp9', 'video/webm;codecs=vp8', 'video/webm'] as const;

let recording: Recording | undefined;
let recorder: MediaRecorder | undefined;
const listeners = createListeners();

function set(change: Recording | undefined): void {
  recording = change;
  listeners.tell();
}

function update(change: Partial<Recording>): void {
  if (recording) set({ ...recording, ...change });
}

export function useRecording(): Recording | undefined {
  return useSyncExternalStore(listeners.subscribe, () => recording);
}

/** The supported container and codec; undefined if the browser cannot record. */
function typeToRecord(): string | undefined {
  return typeof MediaRecorder === 'undefined' ? undefined : TYPES.find((type) => MediaRecorder.isTypeSupported(type));
}

export function canRecord(): boolean {
  return typeToRecord() !== undefined;
}

const isBusy = () => recording !== undefined && ['beginning', 'recording', 'sending'].includes(recording.phase);

/** Starts a recording after the server has confirmed the customer's permission. */
export async function startRecording(session_id: string, track: MediaStreamTrack): Promise<void> {
  const type = typeToRecord();
  if (type === undefined || isBusy()) return;
  set({ session_id, phase: 'beginning', hasPicture: false, isPaused: false, share: 0, isFull: false, sentence: undefined });
  let begun: SessionFile;
  try {
    begun = await call(beginRecording, { params: { id: session_id } });
  } catch (error) {
    update({ phase: 'failed', sentence: sentenceOf(error) });
    return;
  }
  const pieces: Blob[] = [];
  let size = 0;
  // A clone of the track, because the original ends with its connection and would end the recording.
  const own = track.clone();
  const made = new MediaRecorder(new MediaStream([own]), { mimeType: type, videoBitsPerSecond: BITS_PER_SECOND });
  recorder = made;
  made.addEventListener('dataavailable', ({ data }) => {
    pieces.push(data);
    size += data.size;
    if (data.size > 0 && recording?.hasPicture === false) update({ hasPicture: true });
    if (made.state !== 'inactive' && size > RECORDING_BYTES_MAXIMUM - SLACK_BYTES) {
      update({ isFull: true });
      stopRecording();
    }
  });
  made.addEventListener('stop', () => {
    own.stop();
    recorder = undefined;
    if (size === 0) update({ phase: 'empty' });
    else void handIn(begun, new File(pieces, begun.filename, { type: 'video/webm' }));
  });
  track.addEventListener('ended', stopRecording);
  made.start(PIECE);
  update({ phase: 'recording' });
}

async function handIn({ id }: SessionFile, file: File): Promise<void> {
  update({ phase: 'sending' });
  try {
    await upload(sendRecording, file, { params: { id }, onProgress: (share) => update({ share }) });
    update({ phase: 'sent' });
  } catch (error) {
    update({ phase: 'failed', sentence: sentenceOf(error) });
  }
}

/** Stops the recording and uploads it. */
export function stopRecording(): void {
  if (recorder && recorder.state !== 'inactive') recorder.stop();
}

/** Pauses the recording while the customer has paused. */
export function pauseRecording(isPaused: boolean): void {
  if (!recorder || recorder.state === 'inactive') return;
  if (isPaused && recorder.state === 'recording') recorder.pause();
  if (!isPaused && recorder.state === 'paused') recorder.resume();
  update({ isPaused });
}
