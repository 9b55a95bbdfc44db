import { formatNumber, plural } from '@palisade/contract/intl';
import { threatWords } from '@palisade/contract/threat-words';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { dashboardQuery } from '#domain/dashboard/dashboard.ts';
import { openInfections, useSettleInfections } from '#domain/scan/infections.ts';
import { EVERY_SCAN, scansQuery } from '#domain/scan/scans.ts';
import { ThreatLine } from '#domain/scan/threat-line.tsx';
import { Button } from '#ui/button.tsx';
import { FileName } from '#ui/file-name.tsx';
import { Stack } from '#ui/layout.tsx';
import { LeadWords } from '#ui/lead.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { Sentence } from '#ui/sentence.tsx';

const INFECTED = scansQuery({ ...EVERY_SCAN, infection: 'open' });

/** The step of the person's status about infected files, and these files. Both are empty if there is none. */
export function useOpenInfections() {
  const { data: dashboard } = useQuery(dashboardQuery);
  const status = dashboard?.status;
  const step = status && [status.next, ...status.others].find((one) => one?.id === 'infection_open');
  const { data, hasNextPage } = useInfiniteQuery({ ...INFECTED, enabled: !!step });
  return { step, hasMore: hasNextPage, files: step ? openInfections(data?.pages.flatMap(({ rows }) => rows) ?? []) : [] };
}

/** The main step of the page while infected files are not deleted: one press closes all of them. */
export function InfectionLead() {
  const { step, files, hasMore } = useOpenInfections();
  const settle = useSettleInfections();
  if (!step || files.length === 0) return null;
  return (
    <section className="card lead glow" data-tone="danger" aria-labelledby="open-infections">
      <div className="lead__line">
        <LeadWords icon={IconAlertTriangle} titleId="open-infections" title={step.title} sentence={step.evidence} />
        <Button
          size="l"
          loading={settle.isPending}
          onClick={() => settle.mutate({ scan_ids: files.map(({ id }) => id), deleted: true })}
        >
          {plural(files.length, {
            one: 'I deleted it',
            other: hasMore ? `I deleted these ${formatNumber(files.length)}` : `I deleted all ${formatNumber(files.length)}`,
          })}
        </Button>
      </div>
      <Refusal error={settle.error} />
      <Stack as="ul" lines aria-label="Infected files" className="above-3">
        {files.map((scan) => (
          <Stack as="li" key={scan.id} gap="0" className="pad-row">
            <Link to={`/antivirus?scan=${scan.id}`} preventScrollReset className="medium">
              <FileName name={scan.filename} />
            </Link>
            <ThreatLine scan={scan} wordsOf={threatWords} />
            {scan.device && (
              <span className="muted small break">
                <Sentence
                  text="On {device}: {path}"
                  parts={{ device: <bdi>{scan.device.device_name}</bdi>, path: <bdi>{scan.device.path}</bdi> }}
                />
              </span>
            )}
          </Stack>
        ))}
      </Stack>
    </section>
  );
}
