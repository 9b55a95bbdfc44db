import type { Scan } from '@palisade/contract/antivirus';
import { FileName } from '#ui/file-name.tsx';
import { Sentence } from '#ui/sentence.tsx';

interface ThreatLineProps {
  scan: Pick<Scan, 'threat_detected' | 'threat_member' | 'is_test_file' | 'infection'>;
  /** If undefined, only the name is shown. */
  wordsOf: ((threat: string) => string | undefined) | undefined;
}

/** The threat in a file: its description, its name, and the infected file inside an archive. */
export function ThreatLine({ scan, wordsOf }: ThreatLineProps) {
  const { threat_detected: threat, threat_member: member } = scan;
  if (threat === null) return null;
  const words = scan.is_test_file ? undefined : wordsOf?.(threat);
  const tone = scan.is_test_file ? 'blue' : scan.infection?.state === 'closed' ? 'muted' : 'red';
  const name = <bdi>{threat}</bdi>;
  return (
    <span className={`${tone} small break`}>
      {words && <b className="medium">{words}</b>}
      {words && ' · '}
      {member === null ? (
        name
      ) : (
        <Sentence text="{threat} in the file {file}" parts={{ threat: name, file: <FileName name={member} /> }} />
      )}
    </span>
  );
}
