import { formatPercent } from '@palisade/contract/intl';
import type { JoinedSession } from '@palisade/contract/remote';
import { IconPlayerRecordFilled, IconPlayerStopFilled } from '@tabler/icons-react';
import { useEffect } from 'react';
import { Button } from '#ui/button.tsx';
import { Row } from '#ui/layout.tsx';
import { canRecord, pauseRecording, startRecording, stopRecording, useRecording } from './recording.ts';
import { AskFor, isAllowed } from './session-files.tsx';

interface RecordingLineProps {
  session: JoinedSession;
  /** The watched picture; undefined without one. */
  track: MediaStreamTrack | undefined;
  isPaused: boolean;
}

/** Records the picture in the technician's browser while the customer allows it. */
export function RecordingLine({ session, track, isPaused }: RecordingLineProps) {
  const recording = useRecording();
  const mayRecord = isAllowed(session, 'recording');
  const isOurs = recording?.session_id === session.id;
  const isRunning = isOurs && recording.phase === 'recording';
  // The page learns of a pause, a revoked grant and the end before it renders, so later frames are not recorded.
  useEffect(() => {
    if (isRunning) pauseRecording(isPaused);
  }, [isRunning, isPaused]);
  useEffect(() => {
    if (isRunning && !mayRecord) stopRecording();
  }, [isRunning, mayRecord]);
  useEffect(() => stopRecording, []);

  if (!canRecord() || session.phase === 'claimed') return null;
  return (
    <Row gap="3" rowGap="2" className="allow small" data-recording={isRunning}>
      {isRunning ? (
        <>
          <p role="status">
            <IconPlayerRecordFilled size={14} aria-hidden="true" />{' '}
            {isPaused
              ? 'The recording is paused.'
              : recording.hasPicture
                ? 'You record the picture, without voices.'
                : 'Waiting for the first picture to record.'}
          </p>
          <Button size="s" variant="quiet" icon={IconPlayerStopFilled} onClick={() => stopRecording()}>
            End the recording
          </Button>
        </>
      ) : mayRecord ? (
        <Button
          size="s"
          variant="quiet"
          icon={IconPlayerRecordFilled}
          disabled={track === undefined || isPaused}
          loading={isOurs && recording.phase === 'beginning'}
          onClick={() => track && void startRecording(session.id, track)}
        >
          Record
        </Button>
      ) : (
        <AskFor session={session} grant="recording" />
      )}
      <RecordingOnItsWay session_id={session.id} />
    </Row>
  );
}

/** State of the last recording, also after its session. */
export function RecordingOnItsWay({ session_id }: { session_id: string }) {
  const recording = useRecording();
  if (recording?.session_id !== session_id || recording.phase === 'recording' || recording.phase === 'beginning') return null;
  const { phase, share, sentence, isFull } = recording;
  if (phase === 'failed' || phase === 'empty')
    return (
      <p role="alert" className="refusal">
        {phase === 'empty'
          ? 'Nothing was recorded: it ended before the first picture.'
          : `The recording could not be handed in. ${sentence}`}
      </p>
    );
  return (
    <p role="status" className="sub">
      {isFull && 'The recording reached its limit. '}
      {phase === 'sending'
        ? `The recording is on its way (${formatPercent(share)}). Keep this window open.`
        : 'The recording is here. You can both download it after its scan.'}
    </p>
  );
}
