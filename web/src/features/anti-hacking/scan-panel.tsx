import {
  ALERTS_RELOAD_MS,
  type Finding,
  type PostureScan,
  PREMIUM_REQUIRED_FOR_SCAN,
  scanPosture,
} from '@palisade/contract/anti-hacking';
import { formatNumber } from '@palisade/contract/intl';
import { IconRadar2 } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { Link } from 'react-router';
import { call } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { Button } from '#ui/button.tsx';
import { Card } from '#ui/card.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { Moment, useMinute } from '#ui/moment.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { describeUncounted } from '#ui/test-files.ts';
import { ALERTS_KEY } from './alerts.queries.ts';
import { isPremiumRequired, lastCheckQuery } from './anti-hacking.queries.ts';
import './alert-list.css';

const STATUSES: Record<PostureScan['status'], string> = {
  no_issues_found: 'No issues found',
  issues_found: 'Issues found',
};

const STATUS_COLOURS: Record<PostureScan['status'], string> = { no_issues_found: 'accent', issues_found: 'amber' };

const STATE_COLOURS: Record<Finding['state'], string> = { pass: 'accent', fail: 'red', unknown: 'muted' };

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
        <Button
          variant="quiet"
          icon={IconRadar2}
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
      {!shown && !scan.error && (
        <p className="sub">Check your account, firewall rules, files, and alerts. Each finding comes with its fix.</p>
      )}
      {kept?.last && (
        <p className="sub below-3">
          <Sentence text="Last checked {when}" parts={{ when: <Moment iso={kept.last.checked_at} now={now} /> }} />
        </p>
      )}
      {shown && <Result result={shown} isNew={result !== undefined} />}
    </Card>
  );
}

function Result({ result, isNew }: { result: PostureScan; isNew: boolean }) {
  const tests = describeUncounted(result.test_files);
  const { threats_detected, threats_blocked, test_files } = result;
  // In the order of the vulnerabilities. A server that implements only the specification returns no findings.
  const failed = result.findings.filter(({ state }) => state === 'fail');
  return (
    <Stack gap="4">
      <div role="status">
        <Row as="dl" gap="5" align="start" className="below-2">
          <div>
            <dt className="small muted">Threats detected</dt>
            <dd className="title num">{Math.max(0, threats_detected - test_files)}</dd>
          </div>
          <div>
            <dt className="small muted">Threats blocked</dt>
            <dd className="title num">{Math.max(0, threats_blocked - test_files)}</dd>
          </div>
          <div>
            <dt className="small muted">Status</dt>
            <dd className={`title ${STATUS_COLOURS[result.status]}`}>{STATUSES[result.status]}</dd>
          </div>
        </Row>
        <Row as="p" gap="3" rowGap="0" className="sub">
          <span>{result.coverage}</span>
          {tests && <span>{tests}</span>}
        </Row>
      </div>
      {/* The status at the top names what is open, so the result of an earlier scan is folded. */}
      <details open={isNew}>
        <summary className="pad-line base accent">{`${formatNumber(result.vulnerabilities_found.length)} to fix`}</summary>
        <Grid columns="2" phone="stack" gap="4">
          <section className="surface-plain pad-m shrink" aria-label="Vulnerabilities found">
            <h3 className="base bold below-1">Vulnerabilities found</h3>
            {result.vulnerabilities_found.length === 0 ? (
              <p className="sub">We found none in what we could check.</p>
            ) : (
              <Stack as="ul" lines className="base muted break">
                {result.vulnerabilities_found.map((sentence, index) => (
                  <Row as="li" wrap={false} gap="3" align="start" justify="between" className="pad-line" key={sentence}>
                    <span>{sentence}</span>
                    <Fix finding={failed[index]} />
                  </Row>
                ))}
              </Stack>
            )}
          </section>
          <section className="surface-plain pad-m shrink" aria-label="Recommendations">
            <h3 className="base bold below-1">Recommendations</h3>
            {result.recommendations.length === 0 ? (
              <p className="sub">The checks that ran found nothing to fix.</p>
            ) : (
              <Stack as="ul" gap="1" className="disc base muted break">
                {result.recommendations.map((sentence) => (
                  <li key={sentence}>{sentence}</li>
                ))}
              </Stack>
            )}
          </section>
        </Grid>
      </details>
      <details>
        <summary className="pad-line base accent">{`All ${result.findings.length} checks`}</summary>
        <ul>
          {inOrder(result.findings).map((finding) => (
            <Check key={finding.id} finding={finding} />
          ))}
        </ul>
      </details>
    </Stack>
  );
}

/** Link to the screen that fixes a finding. */
function Fix({ finding }: { finding: Finding | undefined }) {
  if (finding === undefined) return null;
  return (
    <Link
      className="fixed bold"
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
    <Grid as="li" columns="both" phone="stack" gap="3" rowGap="0" align="center" className="pad-line line-above base">
      <span className={`scan-result__state tiny bold ${STATE_COLOURS[finding.state]}`}>{STATES[finding.state]}</span>
      <div>
        <b className="block medium">{finding.title}</b>
        <span className="small muted break">{finding.evidence}</span>
      </div>
      {finding.state === 'fail' && (
        <Row wrap={false} gap="3" align="baseline" justify="end" className="num nowrap">
          {finding.deduction > 0 && <bdi>−{finding.deduction}</bdi>}
          {finding.gain > 0 && finding.gain !== finding.deduction && <span>{`+${finding.gain} if fixed`}</span>}
        </Row>
      )}
    </Grid>
  );
}
