import type { Profile } from '@palisade/contract/household';
import { IconKey } from '@tabler/icons-react';
import { Address } from '#ui/address.tsx';
import { Button } from '#ui/button.tsx';
import { CopyButton } from '#ui/copy-button.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { QrCode } from '#ui/qr-code.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { useRenewAskKey } from './household.queries.ts';

/** The address of a person's “May I?” page. */
export function ProfileAddress({ profile: { id, name, ask_key, age_group } }: { profile: Profile }) {
  const renew = useRenewAskKey();
  const address = `${window.location.origin}/ask/${ask_key}`;
  const renewal = (
    <Button
      variant="quiet"
      size="s"
      icon={IconKey}
      loading={renew.isPending}
      onClick={() => {
        if (window.confirm(`Give ${name}’s page a new address? The old one stops working on every device.`)) renew.mutate(id);
      }}
    >
      New address
    </Button>
  );
  if (ask_key === '')
    return (
      <Stack gap="3" align="start">
        <p className="sub">{`${name} has opened this page, so that only ${name} has it. A new address closes it.`}</p>
        {renewal}
        <Refusal error={renew.error} />
      </Stack>
    );
  return (
    <Stack gap="3">
      <p className="sub">
        {age_group === 'sixteen'
          ? `Open it on ${name}’s device and add it to the home screen. ${name} sees refused websites there and asks “May I?”. You see counts only.`
          : `Open it on ${name}’s device and add it to the home screen. ${name} sees refused websites there, as you do, and asks “May I?”.`}
      </p>
      <Grid columns="fit-m" gap="4" align="center">
        <QrCode text={address} label={`QR code for ${name}’s page`} />
        <Stack gap="3" align="start">
          <code className="ink break">
            <Address text={address} />
          </code>
          <Row gap="2">
            <CopyButton size="s" text={address} copied="The address was copied." label="Copy address" />
            {renewal}
          </Row>
          <Refusal error={renew.error} />
        </Stack>
      </Grid>
    </Stack>
  );
}
