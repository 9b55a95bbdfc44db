import type { EngineAnswer } from '@palisade/contract/antivirus';
import { describeBytes, formatDecimals } from '@palisade/contract/intl';
import { describeMediaType } from '@palisade/contract/media-type';
import { restoreFile, type ScanDetail } from '@palisade/contract/quarantine';
import { SCAM_FILE_MAXIMUM } from '@palisade/contract/scam-check';
import { threatWords } from '@palisade/contract/threat-words';
import { IconExternalLink } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { download } from '#api/call.ts';
import { ShowToSupport } from '#domain/conversation/show-to-support.tsx';
import { CheckThis } from '#domain/scam/check-this.tsx';
import { InfectionAnswer } from '#domain/scan/infection-answer.tsx';
import { ScanBadge, ScanIcon } from '#domain/scan/scan-badge.tsx';
import { describeCoverage, describeDetail } from '#domain/scan/scan-sentence.ts';
import { ThreatLine } from '#domain/scan/threat-line.tsx';
import { Button } from '#ui/button.tsx';
import { DetailDialog, DetailPart, Fact, Facts } from '#ui/detail-dialog.tsx';
import { FileName } from '#ui/file-name.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { Moment, useMinute } from '#ui/moment.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { disguiseWordsOf } from '#ui/shown-name.ts';
import { KeptFile, PasswordForm } from './kept-file.tsx';
import { adviceOf, describeAnswer, describeFate, takesPassword } from './scan-advice.ts';
import { scanDetailQuery, useDeleteScan } from './scan-detail.queries.ts';

/** All facts about a scan, in the order of a person's questions: the result, the next step, the file, the finding, the scanners. */
export function ScanDetailDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const { data, error, refetch } = useQuery(scanDetailQuery(id));
  return (
    <DetailDialog
      title="Scan details"
      sentences={{ loading: 'Loading the scan', failed: 'We couldn’t load the scan', missing: 'We couldn’t find this scan' }}
      shown={data}
      error={error}
      onRetry={refetch}
      onClose={onClose}
    >
      {(scan) => <Detail scan={scan} onClose={onClose} />}
    </DetailDialog>
  );
}

function surfaceOf(scan: ScanDetail): 'red' | 'amber' | 'blue' | 'sunken' {
  if (scan.is_test_file) return 'blue';
  if (scan.scan_status === 'pending') return 'amber';
  return scan.scan_status === 'infected' && scan.infection?.state !== 'closed' ? 'red' : 'sunken';
}

function Detail({ scan, onClose }: { scan: ScanDetail; onClose: () => void }) {
  const now = useMinute();
  return (
    <>
      <Grid columns="lead" gap="3" align="center" className={`surface-${surfaceOf(scan)} pad-l`}>
        <ScanIcon scan={scan} />
        <Stack gap="1">
          <Row as="p" gap="2" rowGap="1" className="large bold">
            {describeAnswer(scan)} <ScanBadge scan={scan} />
          </Row>
          <p className="medium break">
            <FileName name={scan.filename} />
          </p>
          <ThreatLine scan={scan} wordsOf={threatWords} />
          {disguiseWordsOf(scan.filename) !== undefined && <p>{disguiseWordsOf(scan.filename)}</p>}
          {describeDetail(scan) !== undefined && <p>{describeDetail(scan)}</p>}
        </Stack>
      </Grid>

      <DetailPart title="What to do">
        <Stack as="ol" gap="2" className="decimal">
          {adviceOf(scan).map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </Stack>
        <InfectionAnswer scan={scan} isMain />
        {takesPassword(scan) && <PasswordForm scan={scan} />}
      </DetailPart>

      {scan.threat_detected !== null && <Threat scan={scan} name={scan.threat_detected} />}
      <DetailPart title={scan.device === undefined ? 'Our copy' : 'The file'}>
        <p>{describeFate(scan)}</p>
        <KeptFile scan={scan} />
      </DetailPart>
      {scan.notes.length > 0 && (
        <DetailPart title="Good to know">
          <Stack as="ul" gap="2" className="surface-amber pad-s break">
            {scan.notes.map((note) => (
              <li key={note}>
                <bdi>{note}</bdi>
              </li>
            ))}
          </Stack>
        </DetailPart>
      )}

      {MAIL.test(scan.filename) && scan.size <= SCAM_FILE_MAXIMUM && <ScamPart scan={scan} />}

      {/* Additional details that change no decision. */}
      <details>
        <summary className="pad-line accent">How we checked it</summary>
        <Reading scan={scan} />
        <Facts>
          <Fact name="Size">{describeBytes(scan.size)}</Fact>
          {scan.media_type !== null && <Fact name="Content">{wordsOf(scan.media_type)}</Fact>}
          <Fact name="Scanned">
            <Moment iso={scan.scanned_at} now={now} />
          </Fact>
          <Fact name={scan.device === undefined ? 'First uploaded by you' : 'First found'}>
            <Moment iso={scan.first_seen_at} now={now} />
          </Fact>
          <Fact name="Fingerprint (SHA-256)">
            <code>{scan.file_hash}</code>
          </Fact>
        </Facts>
      </details>
      <ShowToSupport kind="scan" id={scan.id} name={scan.filename} />
      <DeleteRecord id={scan.id} onDone={onClose} />
    </>
  );
}

const MAIL = /\.(?:eml|msg)$/iu;

/** The scam check of an email. The server checks the stored copy; without one, the person must provide the file. */
function ScamPart({ scan }: { scan: ScanDetail }) {
  return (
    <DetailPart title="Is this email real?">
      {scan.kept === 'sealed' ? (
        <CheckThis
          name={scan.filename}
          what={async () => ({ file: new File([await download(restoreFile, { params: { id: scan.id } })], scan.filename) })}
        />
      ) : (
        <p>
          <Sentence
            text="We have no copy of it. Choose it again in the {link}."
            parts={{ link: <Link to="/scam-check">scam check</Link> }}
          />
        </p>
      )}
    </DetailPart>
  );
}

/** "A PDF document"; unrecognised content is "unknown kind". */
function wordsOf(media_type: string): string {
  const words = describeMediaType(media_type) ?? 'unknown kind';
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function Threat({ scan, name }: { scan: ScanDetail; name: string }) {
  const { threat_facts: facts, threat_member } = scan;
  return (
    <DetailPart title="What we found">
      <p className="bold break">
        <bdi>{name}</bdi>
      </p>
      {facts && <p>{facts.description}</p>}
      {threat_member !== null && (
        <p>
          <Sentence
            text="We found it in {archive}, in the file {file}."
            parts={{ archive: <FileName name={scan.filename} />, file: <FileName name={threat_member} /> }}
          />
        </p>
      )}
      {facts?.reference && (
        <p>
          <a href={facts.reference} target="_blank" rel="noopener noreferrer">
            Learn more <IconExternalLink size={14} stroke={1.7} aria-hidden="true" />
            <span className="visually-hidden"> (opens in a new window)</span>
          </a>
        </p>
      )}
    </DetailPart>
  );
}

const ANSWERS = {
  clean: '{engine} found no threats',
  infected: '{engine} found a threat',
  pending: '{engine} couldn’t check the whole file',
} as const satisfies Record<EngineAnswer['verdict'], string>;

/** A sentence for each scanner that gives the threat another name than the scan record. */
const NAMED_ANSWERS = {
  clean: '{engine} found no threats: {threat}',
  infected: '{engine} found a threat: {threat}',
  pending: '{engine} couldn’t check the whole file: {threat}',
} as const satisfies Record<EngineAnswer['verdict'], string>;

function Reading({ scan }: { scan: ScanDetail }) {
  const coverage = describeCoverage(scan);
  const now = useMinute();
  return (
    <>
      {scan.answered_from !== null && (
        <p>
          <Sentence
            text="You uploaded the same file before. We scanned it {when}; our threat definitions haven’t changed since."
            parts={{ when: <Moment iso={scan.answered_from} now={now} /> }}
          />
        </p>
      )}
      {coverage && <p className="num">{coverage.endsWith('.') ? coverage : `${coverage}.`}</p>}
      {scan.coverage?.whole_file_conditions === false && (
        <p className="sub">
          We checked this large file in parts. A few threat definitions need the whole file, so we skipped them.
        </p>
      )}
      {scan.engines.length === 0 && scan.size > 0 && <p>No scanner has checked it yet.</p>}
      <Stack as="ul" gap="2">
        {scan.engines.map((engine) => (
          <Stack as="li" key={engine.name}>
            <span>
              {engine.threat === null || engine.threat === scan.threat_detected ? (
                <Sentence text={ANSWERS[engine.verdict]} parts={{ engine: <b>{engine.name}</b> }} />
              ) : (
                <Sentence
                  text={NAMED_ANSWERS[engine.verdict]}
                  parts={{ engine: <b>{engine.name}</b>, threat: <bdi>{engine.threat}</bdi> }}
                />
              )}
            </span>
            <span className="sub num">{`version ${engine.version}, threat definitions ${engine.signatures_version}, ${describeDuration(engine.duration_ms)}`}</span>
          </Stack>
        ))}
      </Stack>
    </>
  );
}

const MINUTE = 60_000;
const SECOND = 1_000;

function describeDuration(ms: number): string {
  if (ms >= MINUTE) return `${formatDecimals(ms / MINUTE, 1)} min`;
  return ms >= SECOND ? `${formatDecimals(ms / SECOND, 1)} s` : `${Math.max(1, Math.round(ms))} ms`;
}

function DeleteRecord({ id, onDone }: { id: string; onDone: () => void }) {
  const remove = useDeleteScan(id);
  const ask = () => {
    if (window.confirm('Remove this scan from your history? You can’t undo this.')) {
      remove.mutate(undefined, { onSuccess: onDone });
    }
  };
  return (
    <Row gap="2" justify="end" className="line-above pad-row">
      <div className="full off-empty">
        <Refusal error={remove.error} />
      </div>
      <Button variant="quiet" size="s" loading={remove.isPending} onClick={ask}>
        Remove from history
      </Button>
    </Row>
  );
}
