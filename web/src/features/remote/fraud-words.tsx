import { IconPhoneIncoming } from '@tabler/icons-react';
import { Grid, Stack } from '#ui/layout.tsx';

/** A warning before the person gets a code: fraud often abuses remote support. */
export function FraudWords() {
  return (
    <Grid as="section" columns="lead" gap="3" className="surface-amber pad-l base" aria-label="Before you share a code">
      <IconPhoneIncoming className="amber" size={22} stroke={1.7} aria-hidden="true" />
      <div>
        <h3 className="bold amber below-2">Did someone call you? We never call first.</h3>
        <Stack as="ul" gap="1" className="disc">
          <li>If they called, texted or put a number on your screen, it’s a scam. Hang up.</li>
          <li>Keep your bank closed while someone sees your screen. Support never moves money or asks you to.</li>
          <li>Support never asks for gift cards, a password, or a code you received. That’s always a scam.</li>
        </Stack>
      </div>
    </Grid>
  );
}
