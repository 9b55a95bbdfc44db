import {
  ALERTS_RELOAD_MS,
  type Finding,
  type PostureScan,
  PREMIUM_REQUIRED_FOR_SCAN,
  scanPosture,
} from '@palisade/contract/anti-hacking';
import { IconRadar2 } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { Link } from 'react-router';
import { call } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { Button } from '#ui/button.tsx';
import { Card } from '#ui/card.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { describeTestFiles } from '#ui/test-files.ts';
import { ALERTS_KEY } from './alerts.queries.ts';
import { isPremiumRequired } from './anti-hacking.queries.ts';

const STATUSES: Record<PostureScan['status'], string> = {
  no_issues_found: 'No issues found in what could be checked',
  issues_found: 'Issues found',
};

const STATES: Record<Finding['state'], string> = { pass: 'Passed', fail: 'Failed', unknown: 'Unknown' };

/** Open findings first, then unknown ones. */
const ORDER: readonly Finding['state'][] = ['fail', 'unknown', 'pass'];

function inOrder(findings: readonly Finding[]): Finding[] {
  return findings.toSorted((one, other) => ORDER.indexOf(one.state) - ORDER.indexOf(other.state));
}

export function ScanPanel() {
  const queries = useQueryClient();
  const scan = useChange({
    mutationFn: () => call(scanPosture),
    onError: (error) => console.error(error),
  });
  const { data: result, submittedAt } = scan;

  // biome-ignore lint/correctness/useExhaustiveDependencies: each scan, whatever it finds, has its reload
  useEffect(() => {
    if (!result) return;
    const timer = setTimeout(() => void queries.invalidateQueries({ queryKey: ALERTS_KEY }), ALERTS_RELOAD_MS);
    return () => clearTimeout(timer);
  }, [result, submittedAt, queries]);

  return (
    <Card
      title="Posture scan"
      action={
        <Button
          icon={<IconRadar2 size={18} stroke={1.7} aria-hidden="true" />}
          disabled={scan.isPending}
          aria-busy={scan.isPending}
          onClick={() => scan.mutate()}
        >
          {scan.isPending ? 'SCANNING...' : 'Start Scan'}
        </Button>
      }
    >
      <Refusal error={scan.error}>
        {isPremiumRequired(scan.error) ? PREMIUM_REQUIRED_FOR_SCAN : 'Error performing anti-hacking scan'}
      </Refusal>
      {!result && !scan.error && (
        <p className="sub">
          Checks your firewall rules, your files and your alerts. You learn what is not safe, and how to mend it.
        </p>
      )}
      {result && <Result result={result} />}
    </Card>
  );
}

function Result({ result }: { result: PostureScan }) {
  const tests = describeTestFiles(result.test_files);
  return (
    <div className="scan-result">
      <div role="status">
        <dl className="scan-result__figures">
          <div>
            <dt>Threats detected</dt>
            <dd className="num">{result.threats_detected}</dd>
          </div>
          <div>
            <dt>Threats blocked</dt>
            <dd className="num">{result.threats_blocked}</dd>
          </div>
          <div data-status={result.status}>
            <dt>Status</dt>
            <dd>{STATUSES[result.status]}</dd>
          </div>
        </dl>
        {tests && <p className="sub">Threats detected: {tests}.</p>}
        <p className="sub">{result.coverage}</p>
      </div>
      <div className="scan-result__lists">
        <SentenceList
          title="Vulnerabilities found"
          sentences={result.vulnerabilities_found}
          none="None in what could be checked."
        />
        <SentenceList title="Recommendations" sentences={result.recommendations} none="Nothing to do." />
      </div>
      <details>
        <summary>All {result.findings.length} checks</summary>
        <ul className="scan-result__checks">
          {inOrder(result.findings).map((finding) => (
            <Check key={finding.id} finding={finding} />
          ))}
        </ul>
      </details>
    </div>
  );
}

interface SentenceListProps {
  title: string;
  sentences: readonly string[];
  none: string;
}

function SentenceList({ title, sentences, none }: SentenceListProps) {
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      {sentences.length === 0 ? (
        <p className="sub">{none}</p>
      ) : (
        <ul>
          {sentences.map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Check({ finding }: { finding: Finding }) {
  return (
    <li data-state={finding.state}>
      <span className="scan-result__state">{STATES[finding.state]}</span>
      <div>
        <b>{finding.title}</b>
        <span>{finding.evidence}</span>
      </div>
      {finding.state === 'fail' && (
        <div className="scan-result__fix num">
          {finding.deduction > 0 && <span>−{finding.deduction}</span>}
          {finding.gain > 0 && <span>+{finding.gain} if fixed</span>}
          <Link to={finding.fix_route} preventScrollReset={finding.fix_route.startsWith('/anti-hacking?')}>
            Fix<span className="visually-hidden"> {finding.title}</span>
          </Link>
        </div>
      )}
    </li>
  );
}
