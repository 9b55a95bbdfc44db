import type { Scan } from '@palisade/contract/antivirus';
import { HASH_PREFIX_LENGTH } from '@palisade/contract/constants';
import { memo } from 'react';
import { Link } from 'react-router';
import { FileName } from '#ui/file-name.tsx';
import { Moment } from '#ui/moment.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { disguiseWordsOf } from '#ui/shown-name.ts';
import { ScanBadge, ScanIcon } from './scan-badge.tsx';
import { describeCoverage, describeDetail, TEST_FILE_SENTENCE } from './scan-sentence.ts';
import './scan-row.css';

interface ScanRowProps {
  scan: Scan;
  now: number;
  /** Also shows the hash, the coverage in every case, and the engine's notes. */
  detailed?: boolean;
  /** Link target of the whole row: the details of the scan. */
  to?: string;
}

/** One scan as a list item: file name, result, time and advice. */
export const ScanRow = memo(function ScanRow({ scan, now, detailed = false, to }: ScanRowProps) {
  const detail = describeDetail(scan);
  const coverage = describeCoverage(scan);
  const disguise = disguiseWordsOf(scan.filename);
  const isSaid = scan.threat_detected !== null || detail !== undefined;
  return (
    <li className="scan-row" data-leads={to !== undefined}>
      <ScanIcon scan={scan} />
      <div className="scan-row__what">
        <span className="scan-row__name">
          {to === undefined ? (
            <FileName name={scan.filename} />
          ) : (
            <Link to={to} className="scan-row__link" preventScrollReset>
              <FileName name={scan.filename} />
            </Link>
          )}
        </span>
        {disguise && <span className="scan-row__disguise">{disguise}</span>}
        {scan.threat_detected !== null && (
          <span className="scan-row__threat" data-test={scan.is_test_file || undefined}>
            {scan.threat_member === null ? (
              <bdi>{scan.threat_detected}</bdi>
            ) : (
              <Sentence
                text="{threat} in the file {file}"
                parts={{ threat: <bdi>{scan.threat_detected}</bdi>, file: <FileName name={scan.threat_member} /> }}
              />
            )}
          </span>
        )}
        {scan.is_test_file && <span className="scan-row__line">{TEST_FILE_SENTENCE}</span>}
        {scan.device && (
          <span className="scan-row__line">
            <Sentence
              text="On {device}: {path}"
              parts={{ device: <bdi>{scan.device.device_name}</bdi>, path: <bdi>{scan.device.path}</bdi> }}
            />
          </span>
        )}
        {detail && <span className="scan-row__line">{detail}</span>}
        {coverage && (detailed || !isSaid) && <span className="scan-row__line num">{coverage}</span>}
        {detailed &&
          scan.notes.map((note) => (
            <span key={note} className="scan-row__line">
              <bdi>{note}</bdi>
            </span>
          ))}
      </div>
      <div className="scan-row__when">
        <Moment iso={scan.scanned_at} now={now} />
        {detailed && (
          <span className="scan-row__hash" title={`SHA-256 ${scan.file_hash}`}>
            <Sentence text="Fingerprint {hash}" parts={{ hash: <code>{scan.file_hash.slice(0, HASH_PREFIX_LENGTH)}</code> }} />
          </span>
        )}
      </div>
      <div className="scan-row__status">
        <ScanBadge scan={scan} />
      </div>
    </li>
  );
});
