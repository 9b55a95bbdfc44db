import { describeBytes } from '@palisade/contract/intl';
import { SESSION_FILE_BYTES_MAXIMUM, type SessionFile, sendSessionFile } from '@palisade/contract/remote-files';
import type { LiveSession, Side } from '@palisade/contract/remote-record';
import { IconAlertTriangle, IconFileUpload, IconShieldCheck, IconVideo } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { sentenceOf, upload } from '#api/call.ts';
import { onEvent, saySignal } from '#api/events.ts';
import { Button, Spinner } from '#ui/button.tsx';
import { FileName } from '#ui/file-name.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { Moment, useMinute } from '#ui/moment.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { shownNameOf } from '#ui/shown-name.ts';
import { ErrorNotice } from '#ui/states.tsx';
import { sessionFilesQuery, useIsRecorded, useRefuseFile, useSaveFile } from './files.queries.ts';
import { useGrant, useRevoke } from './joined.queries.ts';

type Asked = 'files' | 'recording';

export const isAllowed = ({ grants }: Pick<LiveSession, 'grants'>, grant: Asked) => grants.some((held) => held.grant === grant);

/** State of a file, for the receiving side. */
function describeFile({ status, threat, kind, size }: SessionFile): string {
  switch (status) {
    case 'recording':
      return 'Recording or uploading';
    case 'scanning':
      return `${describeBytes(size)}, being scanned`;
    case 'clean':
      return `${describeBytes(size)}, clean`;
    case 'infected':
      return threat === null
        ? 'Infected: it did not arrive, and was deleted.'
        : `Infected (${threat}): it did not arrive, and was deleted.`;
    case 'unread':
      return 'We couldn’t check all of it. It did not arrive, and was deleted.';
    case 'failed':
      return kind === 'recording' ? 'The recording was lost.' : 'We couldn’t scan it. Send it again.';
    case 'refused':
      return 'Refused by the customer, and deleted.';
  }
}

/** The files of a session with the actions of each side. Shown in a running session, and in an ended one until the files are deleted. */
export function SessionFileList({ session_id, side }: { session_id: string; side: Side }) {
  const { data: files, error, refetch } = useQuery(sessionFilesQuery(session_id));
  const now = useMinute();
  if (error && !files)
    return <ErrorNotice title="The files could not be read" sentence={sentenceOf(error)} onRetry={() => void refetch()} />;
  if (!files?.length) return null;
  const deleted_at = files[0]?.deleted_at ?? null;
  return (
    <>
      <Stack as="ul" className="session-files" aria-label="Files of the session">
        {files.map((file) => (
          <FileRow key={file.id} file={file} side={side} />
        ))}
      </Stack>
      <p className="sub">
        {deleted_at === null ? (
          'Files are deleted a day after the session.'
        ) : (
          <Sentence
            text="Download what you want to keep before {when}. Then we delete it."
            parts={{ when: <Moment iso={deleted_at} now={now} /> }}
          />
        )}
      </p>
    </>
  );
}

function FileRow({ file, side }: { file: SessionFile; side: Side }) {
  const refuse = useRefuseFile();
  const save = useSaveFile();
  const { whole } = shownNameOf(file.filename);
  const isOnItsWay = file.status === 'scanning' || file.status === 'recording';
  const isMine = file.kind === 'file' && file.side === side;
  return (
    <Grid as="li" columns="both" phone="under" gap="2" align="center" className="pad-line line-between">
      <span className={file.status === 'infected' ? 'red' : 'muted'} aria-hidden="true">
        {file.status === 'clean' && <IconShieldCheck size={18} stroke={1.7} />}
        {isOnItsWay && (file.status === 'recording' ? <IconVideo size={18} stroke={1.7} /> : <Spinner />)}
        {file.status !== 'clean' && !isOnItsWay && <IconAlertTriangle size={18} stroke={1.7} />}
      </span>
      <Stack as="span" gap="0" className="shrink break">
        <FileName name={file.filename} />
        <span className="num small muted" role="status">
          {isMine ? 'From you.' : <bdi>{`From ${file.author}.`}</bdi>} {describeFile(file)}
        </span>
        <Refusal error={refuse.error ?? save.error} />
      </Stack>
      <Row as="span" gap="1" justify="end">
        {file.status === 'clean' && !isMine && (
          <Button size="s" loading={save.isPending} aria-label={`Download ${whole}`} onClick={() => save.mutate(file)}>
            Download
          </Button>
        )}
        {side === 'customer' && (file.status === 'clean' || isOnItsWay) && (
          <Button
            variant="quiet"
            size="s"
            loading={refuse.isPending}
            aria-label={isMine ? `Take back ${whole}` : `Refuse ${whole}`}
            onClick={() => refuse.mutate(file)}
          >
            {isMine ? 'Take back' : 'Refuse'}
          </Button>
        )}
      </Row>
    </Grid>
  );
}

interface Sending {
  key: number;
  name: string;
  share: number;
  refused?: string;
}

/** Sends and receives files in both directions while the customer allows it. */
export function SessionFiles({ session, side }: { session: LiveSession; side: Side }) {
  const queries = useQueryClient();
  const [sending, setSending] = useState<readonly Sending[]>([]);
  const lastKey = useRef(0);
  const input = useRef<HTMLInputElement>(null);
  const mayFiles = isAllowed(session, 'files');

  async function send(file: File): Promise<void> {
    lastKey.current += 1;
    const key = lastKey.current;
    const become = (change: Partial<Sending>) =>
      setSending((all) => all.map((one) => (one.key === key ? { ...one, ...change } : one)));
    setSending((all) => [...all, { key, name: file.name, share: 0 }]);
    if (file.size > SESSION_FILE_BYTES_MAXIMUM) {
      become({ refused: `A file has at most ${describeBytes(SESSION_FILE_BYTES_MAXIMUM)}.` });
      return;
    }
    try {
      await upload(sendSessionFile, file, { params: { id: session.id }, onProgress: (share) => become({ share }) });
      setSending((all) => all.filter((one) => one.key !== key));
    } catch (error) {
      become({ refused: sentenceOf(error) });
    }
    void queries.invalidateQueries({ queryKey: sessionFilesQuery(session.id).queryKey });
  }

  return (
    <Stack as="section" gap="3" className="session-files__part top pad-m base off-empty" aria-label="Files">
      {side === 'customer' ? <Allow session={session} grant="files" /> : !mayFiles && <AskFor session={session} grant="files" />}
      {mayFiles && (
        <div>
          <Button variant="quiet" size="s" icon={IconFileUpload} onClick={() => input.current?.click()}>
            Send a file
          </Button>
          <input
            ref={input}
            type="file"
            multiple
            hidden
            aria-label="Files to send"
            onChange={(event) => {
              for (const file of event.currentTarget.files ?? []) void send(file);
              event.currentTarget.value = '';
            }}
          />
        </div>
      )}
      {sending.map(({ key, name, share, refused }) => (
        <Stack key={key} gap="1" className="shrink">
          <FileName name={name} />
          {refused === undefined ? (
            <progress max={1} value={share} aria-label={`Sending ${name}`} />
          ) : (
            <>
              <p role="alert" className="refusal">
                It was not sent. {refused}
              </p>
              <Button
                variant="text"
                size="s"
                aria-label={`Put ${name} away`}
                onClick={() => setSending((all) => all.filter((one) => one.key !== key))}
              >
                Put away
              </Button>
            </>
          )}
        </Stack>
      ))}
      <SessionFileList session_id={session.id} side={side} />
    </Stack>
  );
}

const WORDS = {
  files: {
    allow: 'Allow files',
    asked: '{technician} asks to exchange files with you.',
    off: 'File transfer is off. Each file is scanned first, and you can refuse it.',
    on: 'File transfer is on. Each file is scanned first, and you can refuse it.',
    end: 'Stop file transfer',
  },
  recording: {
    allow: 'Allow recording',
    asked: '{technician} asks to record what you share.',
    off: 'Nothing is recorded.',
    on: 'The technician can record what you share, without voices. You both get the recording.',
    end: 'Stop recording',
  },
} as const satisfies Record<Asked, { allow: string; asked: string; off: string; on: string; end: string }>;

/** The customer's permission beside the picture. No answer counts as a refusal. */
export function Allow({ session, grant }: { session: LiveSession; grant: Asked }) {
  const [isAsked, setIsAsked] = useState(false);
  const give = useGrant(session.id);
  const take = useRevoke(session.id);
  const isOn = isAllowed(session, grant);
  const isRecorded = useIsRecorded(session) && grant === 'recording';
  const words = WORDS[grant];
  useEffect(
    () =>
      onEvent('remote_signal', ({ session_id, from, signal }) => {
        if (session_id === session.id && from === 'technician' && signal.type === 'grant_wanted' && signal.grant === grant)
          setIsAsked(true);
      }),
    [session.id, grant],
  );
  useEffect(() => {
    if (isOn) setIsAsked(false);
  }, [isOn]);
  return (
    <Row gap="3" rowGap="2" className={`allow small ${isAsked ? 'surface-amber pad-s' : ''}`}>
      <p className="grow break" role={isAsked ? 'alert' : 'status'}>
        {isAsked ? (
          <b>
            <Sentence text={words.asked} parts={{ technician: <bdi>{session.support_agent}</bdi> }} />
          </b>
        ) : isRecorded ? (
          <b>Your shared screen is being recorded. You both get the recording.</b>
        ) : isOn ? (
          words.on
        ) : (
          words.off
        )}
      </p>
      <Row wrap={false} gap="2" align="stretch">
        {isOn ? (
          <Button size="s" variant="quiet" loading={take.isPending} onClick={() => take.mutate(grant)}>
            {words.end}
          </Button>
        ) : (
          <Button
            size="s"
            variant={isAsked ? 'primary' : 'quiet'}
            loading={give.isPending}
            onClick={() => give.mutate({ grant, device_id: null })}
          >
            {words.allow}
          </Button>
        )}
        {isAsked && (
          <Button size="s" variant="quiet" onClick={() => setIsAsked(false)}>
            No
          </Button>
        )}
      </Row>
      <Refusal error={give.error ?? take.error} />
    </Row>
  );
}

const ASKS: Record<Asked, { ask: string; before: string; asked: string }> = {
  files: {
    ask: 'Ask to exchange files',
    before: 'You can exchange files once the customer allows it. Each file is scanned first.',
    asked: 'Waiting for the customer to allow files.',
  },
  recording: {
    ask: 'Ask to record',
    before: '',
    asked: 'Waiting for the customer to allow recording.',
  },
};

/** Sends the technician's request; the customer's page shows it. */
export function AskFor({ session, grant }: { session: LiveSession; grant: Asked }) {
  const [hasAsked, setHasAsked] = useState(false);
  if (session.status !== 'active') return null;
  return (
    <Row gap="3" rowGap="2" className="allow small">
      <Button
        size="s"
        variant="quiet"
        onClick={() => {
          saySignal(session.id, { type: 'grant_wanted', grant });
          setHasAsked(true);
        }}
      >
        {ASKS[grant].ask}
      </Button>
      <p className="sub grow break" role="status">
        {hasAsked ? ASKS[grant].asked : ASKS[grant].before}
      </p>
    </Row>
  );
}
