import { downloadAttachment } from '@palisade/contract/chat';
import type { Attachment } from '@palisade/contract/chat-record';
import { describeBytes, formatPercent } from '@palisade/contract/intl';
import { SCAM_FILE_MAXIMUM } from '@palisade/contract/scam-check';
import { IconAlertTriangle, IconDownload, IconPaperclip, IconShieldCheck, IconX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { download, sentenceOf } from '#api/call.ts';
import { CheckThis } from '#domain/scam/check-this.tsx';
import { Spinner } from '#ui/button.tsx';
import { FileName } from '#ui/file-name.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { saveFile } from '#ui/save-file.ts';
import { shownNameOf } from '#ui/shown-name.ts';
import type { Attaching } from './use-attaching.ts';
import './attachments.css';

function describeState({ state, size }: Attaching): string {
  switch (state.phase) {
    case 'sending':
      return `${formatPercent(state.share)} of ${describeBytes(size)} sent`;
    case 'scanning':
      return 'Being scanned';
    case 'clean':
      return `${describeBytes(size)}, clean`;
    case 'refused':
      return state.sentence;
  }
}

/** The files of the draft. */
export function AttachingList({ files, onRemove }: { files: readonly Attaching[]; onRemove: (file: Attaching) => void }) {
  if (files.length === 0) return null;
  return (
    <Row as="ul" gap="2" className="attaching shrink" aria-label="Files in your message">
      {files.map((file) => (
        <Grid
          key={file.key}
          as="li"
          gap="2"
          align="center"
          className="attaching__file surface-sunken"
          data-phase={file.state.phase}
        >
          <span className="attaching__icon center muted" aria-hidden="true">
            {file.state.phase === 'clean' && <IconShieldCheck size={18} stroke={1.7} />}
            {file.state.phase === 'refused' && <IconAlertTriangle size={18} stroke={1.7} />}
            {(file.state.phase === 'sending' || file.state.phase === 'scanning') && <Spinner />}
          </span>
          <Stack as="span" className="attaching__what shrink small">
            <FileName name={file.name} />
            <span className="attaching__state num tiny muted break" role={file.state.phase === 'sending' ? undefined : 'status'}>
              {describeState(file)}
            </span>
          </Stack>
          <button
            type="button"
            className="icon-button"
            aria-label={`Remove ${shownNameOf(file.name).whole}`}
            onClick={() => onRemove(file)}
          >
            <IconX size={16} stroke={2} aria-hidden="true" />
          </button>
          {file.state.phase === 'sending' && (
            <progress className="attaching__share full" max={1} value={file.state.share} aria-label={`Sending ${file.name}`} />
          )}
        </Grid>
      ))}
    </Row>
  );
}

/** The files of a message: pictures are shown, other files are downloaded. The server delivers only files that were scanned as clean. */
export function SentAttachments({ attachments }: { attachments: readonly Attachment[] }) {
  if (attachments.length === 0) return null;
  return (
    <Row as="ul" gap="2" className="attachments shrink" aria-label="Files">
      {attachments.map((attachment) => (
        <li className="shrink" key={attachment.id}>
          {attachment.is_image && attachment.status === 'clean' ? (
            <Picture attachment={attachment} />
          ) : (
            <FileToDownload attachment={attachment} />
          )}
          {attachment.status === 'clean' && attachment.size <= SCAM_FILE_MAXIMUM && CHECKED_NAMES.test(attachment.filename) && (
            <CheckThis
              name={shownNameOf(attachment.filename).whole}
              what={async () => ({
                file: new File([await download(downloadAttachment, { params: { id: attachment.id } })], attachment.filename),
              })}
            />
          )}
        </li>
      ))}
    </Row>
  );
}

/** Files that the scam check can read. */
const CHECKED_NAMES = /\.(?:png|jpe?g|gif|bmp|webp|heic|eml|msg|pdf|vcf|ics|txt)$/iu;

/** Larger pictures are fetched only on request, in bytes. */
const SHOWN_MAXIMUM = 4 * 1024 * 1024;

function Picture({ attachment }: { attachment: Attachment }) {
  const { id, filename, size } = attachment;
  const { data: content, error } = useQuery({
    queryKey: ['attachment', id],
    queryFn: () => download(downloadAttachment, { params: { id } }),
    enabled: size <= SHOWN_MAXIMUM,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const address = useAddressOf(content);
  const { whole } = shownNameOf(filename);
  if (error || address === undefined) return <FileToDownload attachment={attachment} />;
  return (
    <button
      type="button"
      className="attachments__picture surface-sunken bare block"
      aria-label={`Download ${whole}`}
      title={whole}
      onClick={() => content && saveFile(filename, content)}
    >
      <img className="block" src={address} alt={whole} />
    </button>
  );
}

/** An object URL for fetched content, revoked when the component no longer shows it. */
function useAddressOf(content: Blob | undefined): string | undefined {
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    if (!content) return undefined;
    const made = URL.createObjectURL(content);
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [content]);
  return address;
}

const STATUS_WORDS: Record<Attachment['status'], string | undefined> = {
  clean: undefined,
  scanning: 'being scanned',
  infected: 'infected: you can’t open it',
  unread: 'not fully checked: you can’t open it',
  failed: 'not scanned: you can’t open it',
};

function FileToDownload({ attachment: { id, filename, size, status, threat } }: { attachment: Attachment }) {
  const [isBusy, setIsBusy] = useState(false);
  const [sentence, setSentence] = useState<string>();
  const state = threat === null ? STATUS_WORDS[status] : `infected (${threat}): you can’t open it`;

  async function save() {
    setIsBusy(true);
    setSentence(undefined);
    try {
      saveFile(filename, await download(downloadAttachment, { params: { id } }));
    } catch (error) {
      setSentence(sentenceOf(error));
    }
    setIsBusy(false);
  }

  return (
    <>
      <Grid
        type="button"
        as="button"
        columns="both"
        gap="2"
        align="center"
        className="attachments__file pad-s bare rounded ink"
        aria-label={`Download ${shownNameOf(filename).whole}`}
        aria-busy={isBusy}
        disabled={isBusy || status !== 'clean'}
        onClick={() => void save()}
      >
        <IconPaperclip size={18} stroke={1.7} aria-hidden="true" />
        <Stack as="span" className="attachments__what shrink small">
          <FileName name={filename} />
          <span className="num tiny muted break">
            {describeBytes(size)}
            {state !== undefined && `, ${state}`}
          </span>
        </Stack>
        {isBusy ? <Spinner /> : <IconDownload size={16} stroke={1.7} aria-hidden="true" />}
      </Grid>
      {sentence !== undefined && (
        <p role="alert" className="tiny red">
          {sentence}
        </p>
      )}
    </>
  );
}
