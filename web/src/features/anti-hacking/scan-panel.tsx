import {
  ALERTS_RELOAD_MS,
  type Finding,
  type PostureScan,
  PREMIUM_REQUIRED_FOR_SCAN,
  scanPosture,
} from '@palisade/contract/anti-hacking';
import { IconRadar2 } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { Link } from 'react-router';
import { call } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { Button } from '#ui/button.tsx';
import { Card } from '#ui/card.tsx';
import { Moment, useMinute } from '#ui/moment.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { describeTestFiles } from '#ui/test-files.ts';
import { ALERTS_KEY } from './alerts.queries.ts';
import { isPremiumRequired, lastCheckQuery } from './anti-hacking.queries.ts';

const STATUSES: Record<PostureScan['status'], string> = {
  no_issues_found: 'No issues found',
  issues_found: 'Issues found',
};

const STATES: Record<Finding['state'], string> = { pass: 'Passed', fail: 'Failed', unknown: 'Unknown' };

/** Failed findings first, then unknown ones. */
const ORDER: readonly Finding['state'][] = ['fail', 'unknown', 'pass'];

function inOrder(findings: readonly Finding[]): Finding[] {
  return findings.toSorted((one, other) => ORDER.indexOf(one.state) - ORDER.indexOf(other.state));
}

export function ScanPanel() {
  const queries = useQueryClient();
  const scan = useChange({
    mutationFn: () => call(scanPosture),
    renews: [lastCheckQuery.queryKey],
    onError: (error) => console.error(error),
  });
  const { data: result, submittedAt } = scan;
  const { data: kept } = useQuery(lastCheckQuery);
  // Prefers the stored result, whose time is the server's.
  const shown = kept?.last?.result ?? result;
  const now = useMinute();

  // biome-ignore lint/correctness/useExhaustiveDependencies: each scan triggers its own reload, whatever it finds
  useEffect(() => {
    if (!result) return;
    const timer = setTimeout(() => void queries.invalidateQueries({ queryKey: ALERTS_KEY }), ALERTS_RELOAD_MS);
    return () => clearTimeout(timer);
  }, [result, submittedAt, queries]);

  return (
    <Card
      title="Security check"
      action={
        <Button icon={IconRadar2} disabled={scan.isPending} aria-busy={scan.isPending} onClick={() => scan.mutate()}>
          {scan.isPending ? 'SCANNING...' : 'Start Scan'}
        </Button>
      }
    >
      <Refusal error={scan.error}>
        {isPremiumRequired(scan.error) ? PREMIUM_REQUIRED_FOR_SCAN : 'Error performing anti-hacking scan'}
      </Refusal>
      {!shown && !scan.error && (
        <p className="sub">Check your account, firewall rules, files, and alerts. Each finding comes with its fix.</p>
      )}
      {kept?.last && (
        <p className="sub scan-result__when">
          <Sentence text="Last checked {when}" parts={{ when: <Moment iso={kept.last.checked_at} now={now} /> }} />
        </p>
      )}
      {shown && <Result result={shown} />}
    </Card>
  );
}

function Result({ result }: { result: PostureScan }) {
  const tests = describeTestFiles(result.test_files);
  // In the order of the vulnerabilities. A server that implements only the specification returns no findings.
  const failed = result.findings.filter(({ state }) => state === 'fail');
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
        {tests && <p className="sub">{`Threats detected: ${tests}.`}</p>}
        <p className="sub">{result.coverage}</p>
      </div>
      <div className="scan-result__lists">
        <section aria-label="Vulnerabilities found">
          <h3>Vulnerabilities found</h3>
          {result.vulnerabilities_found.length === 0 ? (
            <p className="sub">We found none in what we could check.</p>
          ) : (
            <ul className="scan-result__found">
              {result.vulnerabilities_found.map((sentence, index) => (
                <li key={sentence}>
                  <span>{sentence}</span>
                  <Fix finding={failed[index]} />
                </li>
              ))}
            </ul>
          )}
        </section>
        <section aria-label="Recommendations">
          <h3>Recommendations</h3>
          {result.recommendations.length === 0 ? (
            <p className="sub">No action needed.</p>
          ) : (
            <ul>
              {result.recommendations.map((sentence) => (
                <li key={sentence}>{sentence}</li>
              ))}
            </ul>
          )}
        </section>
      </div>
      <details>
        <summary>{`All ${result.findings.length} checks`}</summary>
        <ul className="scan-result__checks">
          {inOrder(result.findings).map((finding) => (
            <Check key={finding.id} finding={finding} />
          ))}
        </ul>
      </details>
    </div>
  );
}

/** Link to the screen that fixes a finding. */
function Fix({ finding }: { finding: Finding | undefined }) {
  if (finding === undefined) return null;
  return (
    <Link
      to={finding.fix_route}
      preventScrollReset={finding.fix_route.startsWith('/anti-hacking?')}
      aria-label={`Fix ${finding.title}`}
    >
      Fix
    </Link>
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
          {finding.deduction > 0 && <bdi>−{finding.deduction}</bdi>}
          {finding.gain > 0 && <span>{`+${finding.gain} if fixed`}</span>}
        </div>
      )}
    </li>
  );
}
