import { beginRecording, RECORDING_BYTES_MAXIMUM, type SessionFile, sendRecording } from '@palisade/contract/remote-files';
import { useSyncExternalStore } from 'react';
import { call, sentenceOf, upload } from '#api/call.ts';

/** The recording of this page, or its upload. It outlives the screen of the session: the session ends before its recording is here. */
export interface Recording {
  session_id: string;
  phase: 'beginning' | 'recording' | 'sending' | 'sent' | 'failed';
  /** The customer has paused: nothing is taken down. */
  isPaused: boolean;
  /** Of the upload. */
  share: number;
  /** It was ended because it was as long as one can be. */
  isFull: boolean;
  sentence: string | undefined;
}

/** Bits of a second: a screen at rest takes less. 200 MB are half an hour of it. */
const BITS_PER_SECOND = 900_000;
/** Interval at which the browser hands out recorded data, in ms. */
const PIECE = 1_000;
/** A container's end, and what comes while the recorder stops. */
const SLACK_BYTES = 4 * 1024 * 1024;
const TYPES = ['video/webm;codecs=vp9', 'video/webm;codecs=vp8', 'video/webm'] as const;

let recording: Recording | undefined;
let recorder: MediaRecorder | undefined;
const listeners = new Set<() => void>();

function set(change: Recording | undefined): void {
  recording = change;
  for (const listener of listeners) listener();
}

function update(change: Partial<Recording>): void {
  if (recording) set({ ...recording, ...change });
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useRecording(): Recording | undefined {
  return useSyncExternalStore(subscribe, () => recording);
}

/** Parts of the browser that a recording needs. */
function typeToRecord(): string | undefined {
  return typeof MediaRecorder === 'undefined' ? undefined : TYPES.find((type) => MediaRecorder.isTypeSupported(type));
}

export function canRecord(): boolean {
  return typeToRecord() !== undefined;
}

const isBusy = () => recording !== undefined && ['beginning', 'recording', 'sending'].includes(recording.phase);

/** Records a picture from now on, once the server has said that the customer allows it. */
export async function startRecording(session_id: string, track: MediaStreamTrack): Promise<void> {
  const type = typeToRecord();
  if (type === undefined || isBusy()) return;
  set({ session_id, phase: 'beginning', isPaused: false, share: 0, isFull: false, sentence: undefined });
  let begun: SessionFile;
  try {
    begun = await call(beginRecording, { params: { id: session_id } });
  } catch (error) {
    update({ phase: 'failed', sentence: sentenceOf(error) });
    return;
  }
  const pieces: Blob[] = [];
  let size = 0;
  // Its own track: the picture's ends with its connection, and so does the recording.
  const own = track.clone();
  const made = new MediaRecorder(new MediaStream([own]), { mimeType: type, videoBitsPerSecond: BITS_PER_SECOND });
  recorder = made;
  made.addEventListener('dataavailable', ({ data }) => {
    pieces.push(data);
    size += data.size;
    if (made.state !== 'inactive' && size > RECORDING_BYTES_MAXIMUM - SLACK_BYTES) {
      update({ isFull: true });
      stopRecording();
    }
  });
  made.addEventListener('stop', () => {
    own.stop();
    recorder = undefined;
    void handIn(begun, new File(pieces, begun.filename, { type: 'video/webm' }));
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

/** Ends it; what was taken down is handed in. */
export function stopRecording(): void {
  if (recorder && recorder.state !== 'inactive') recorder.stop();
}

/** Takes nothing down while the customer has paused. */
export function pauseRecording(isPaused: boolean): void {
  if (!recorder || recorder.state === 'inactive') return;
  if (isPaused && recorder.state === 'recording') recorder.pause();
  if (!isPaused && recorder.state === 'paused') recorder.resume();
  update({ isPaused });
}
