import type { Scan } from '@palisade/contract/antivirus';
import { HASH_PREFIX_LENGTH } from '@palisade/contract/constants';
import { type ComponentType, memo } from 'react';
import { Link } from 'react-router';
import { FileName } from '#ui/file-name.tsx';
import { Grid, Stack } from '#ui/layout.tsx';
import { lazyPart } from '#ui/lazy-part.tsx';
import { Moment } from '#ui/moment.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { disguiseWordsOf } from '#ui/shown-name.ts';
import { ScanBadge, ScanIcon } from './scan-badge.tsx';
import { describeCoverage, describeDetail, describeTestFile } from './scan-sentence.ts';
import './scan-row.css';

/** Loaded with the first infected file, because most files are harmless. */
const ThreatLine = lazyPart(async () => (await import('./threat-line.tsx')).ThreatLine);

interface ScanRowProps {
  scan: Scan;
  now: number;
  /** Also shows the hash, the coverage even if complete, and the engine's notes. */
  detailed?: boolean;
  /** Link target of the whole row: the details of the scan. */
  to?: string;
  /** Description of the threat and confirmation of deletion, which the first screen does not load. */
  wordsOf?: (threat: string) => string | undefined;
  Answer?: ComponentType<{ scan: Scan }>;
}

/** One scan as a list item: file name, result, time and advice. */
export const ScanRow = memo(function ScanRow({ scan, now, detailed = false, to, wordsOf, Answer }: ScanRowProps) {
  const detail = scan.is_test_file ? undefined : describeDetail(scan);
  const coverage = describeCoverage(scan);
  const disguise = disguiseWordsOf(scan.filename);
  const isSaid = scan.threat_detected !== null || detail !== undefined;
  return (
    <Grid as="li" gap="3" rowGap="0" align="center" className="scan-row pad-row line-between" data-leads={to !== undefined}>
      <ScanIcon scan={scan} />
      <Stack gap="0" className="scan-row__what">
        <span className="medium base">
          {to === undefined ? (
            <FileName name={scan.filename} />
          ) : (
            <Link to={to} className="scan-row__link unlined" preventScrollReset>
              <FileName name={scan.filename} />
            </Link>
          )}
        </span>
        {disguise && <span className="amber small">{disguise}</span>}
        <ThreatLine scan={scan} wordsOf={wordsOf} />
        {scan.is_test_file && <span className="muted small">{describeTestFile(scan)}</span>}
        {scan.device && (
          <span className="muted small break">
            <Sentence
              text="On {device}: {path}"
              parts={{ device: <bdi>{scan.device.device_name}</bdi>, path: <bdi>{scan.device.path}</bdi> }}
            />
          </span>
        )}
        {detail && <span className="muted small">{detail}</span>}
        {coverage && (detailed || !isSaid) && <span className="muted small num">{coverage}</span>}
        {detailed &&
          scan.notes.map((note) => (
            <span key={note} className="muted small break">
              <bdi>{note}</bdi>
            </span>
          ))}
        {Answer && <Answer scan={scan} />}
      </Stack>
      <Stack gap="0" className="scan-row__when faint small num nowrap">
        <Moment iso={scan.scanned_at} now={now} />
        {detailed && (
          <span title={`SHA-256 ${scan.file_hash}`}>
            <Sentence
              text="Fingerprint {hash}"
              parts={{ hash: <code className="mono muted tiny">{scan.file_hash.slice(0, HASH_PREFIX_LENGTH)}</code> }}
            />
          </span>
        )}
      </Stack>
      <div className="scan-row__status">
        <ScanBadge scan={scan} />
      </div>
    </Grid>
  );
});
