import type { Device, DeviceChanges } from '@palisade/contract/devices';
import { formatNumber, plural } from '@palisade/contract/intl';
import { useState } from 'react';
import { Button } from '#ui/button.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { Toggle } from '#ui/toggle.tsx';
import { PathForm } from './path-form.tsx';

type List = 'watched' | 'exclusions';

const LISTS: Record<List, { title: string; none: string; add: string; label: string }> = {
  watched: { title: 'Also watched', none: 'No other folders.', add: 'Watch a folder', label: 'Folder to watch' },
  exclusions: { title: 'Never scanned', none: 'No folders excluded.', add: 'Exclude a folder', label: 'Folder to exclude' },
};

/** The folders of a device that are watched for new files, and those that scans skip. */
export function Folders({ device, onChange }: { device: Device; onChange: (changes: DeviceChanges) => void }) {
  const { is_watching, watching, capabilities } = device;
  const [adding, setAdding] = useState<List>();
  return (
    <details className="span" open={watching?.reason != null}>
      <summary className="pointer">
        {is_watching ? 'New files and folders' : 'New files and folders: new files wait for the next scan'}
      </summary>
      <Grid columns="fit-m" gap="5" rowGap="2" className="pad-line">
        <Stack gap="2" className="top shrink base">
          <Toggle label="Scan new files right away" isOn={is_watching} onChange={(isOn) => onChange({ is_watching: isOn })} />
          <p className="sub">
            {is_watching
              ? 'The agent scans new files in Downloads, Desktop, and Documents.'
              : 'New files wait for the next scan.'}
          </p>
          {is_watching && capabilities?.watch === false && <p className="sub">This device can’t watch folders.</p>}
          {is_watching && watching !== null && (
            <p className="sub num">
              {plural(watching.folders, {
                one: 'Watching 1 folder.',
                other: `Watching ${formatNumber(watching.folders)} folders.`,
              })}
            </p>
          )}
          {is_watching && watching?.reason && <p className="refusal">{watching.reason}</p>}
        </Stack>
        {(['watched', 'exclusions'] as const).map((list) => (
          <Stack key={list} gap="1" align="start" className="top base">
            <h4>{LISTS[list].title}</h4>
            {device[list].length === 0 ? (
              <p className="sub">{LISTS[list].none}</p>
            ) : (
              <Stack as="ul" gap="1" className="full">
                {device[list].map((path) => (
                  <Row key={path} as="li" gap="2" justify="between" wrap={false}>
                    <bdi className="block muted mono tiny break">{path}</bdi>
                    <Button
                      size="s"
                      variant="text"
                      aria-label={`Remove ${path}`}
                      onClick={() => onChange({ [list]: device[list].filter((other) => other !== path) })}
                    >
                      Remove
                    </Button>
                  </Row>
                ))}
              </Stack>
            )}
            {adding === list ? (
              <PathForm
                label={LISTS[list].label}
                action="Add"
                onSubmit={(path) => {
                  setAdding(undefined);
                  onChange({ [list]: [...new Set([...device[list], path])] });
                }}
              />
            ) : (
              <Button size="s" variant="text" onClick={() => setAdding(list)}>
                {LISTS[list].add}
              </Button>
            )}
          </Stack>
        ))}
      </Grid>
    </details>
  );
}
