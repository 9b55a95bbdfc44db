import type { CheckedLink } from '@palisade/contract/scam-check';
import { useQuery } from '@tanstack/react-query';
import { nameCheckQuery, useAddName, webProtectionQuery } from '#domain/web-device/web-devices.ts';
import { Button } from '#ui/button.tsx';
import { Card } from '#ui/card.tsx';
import { Row, Stack } from '#ui/layout.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { Sentence } from '#ui/sentence.tsx';

/** Offers to block a host that is dangerous itself, because it imitates another one or its page is on a list. */
function Host({ link: { host, host_shown, imitates } }: { link: CheckedLink }) {
  const { data: check } = useQuery(nameCheckQuery(host));
  const block = useAddName();
  const parts = { host: <bdi className="medium break">{host_shown}</bdi> };
  if (block.isSuccess)
    return (
      <li role="status">
        <Sentence text="Your devices refuse {host} within a minute." parts={parts} />
      </li>
    );
  if (check?.is_refused === true)
    return (
      <li>
        <Sentence text="Your devices already refuse {host}." parts={parts} />
      </li>
    );
  // A list that has one page of a host says nothing about its other pages.
  if (check === undefined || imitates === null) return null;
  return (
    <Stack as="li" gap="2">
      <Row gap="3" justify="between">
        <bdi className="medium break shrink">{host_shown}</bdi>
        <Button
          variant="quiet"
          size="s"
          aria-label={`Block ${host_shown} on my devices`}
          loading={block.isPending}
          onClick={() => block.mutate({ name: host, verdict: 'block' })}
        >
          Block it on my devices
        </Button>
      </Row>
      <Refusal error={block.error} />
    </Stack>
  );
}

/** Refuses the dangerous hosts of a message on the person's devices; renders nothing without a device or such a host. */
export function BlockOnDevices({ links }: { links: readonly CheckedLink[] }) {
  const { data: web } = useQuery(webProtectionQuery);
  const dangerous = links.filter(({ kind, imitates, trust }) => kind === 'web' && (imitates !== null || trust === 'listed'));
  const hosts = [...new Map(dangerous.map((link) => [link.host, link])).values()];
  if (web === undefined || web.devices.length === 0 || hosts.length === 0) return null;
  return (
    <Card title="Web protection">
      <Stack as="ul" gap="3">
        {hosts.map((link) => (
          <Host key={link.host} link={link} />
        ))}
      </Stack>
    </Card>
  );
}
