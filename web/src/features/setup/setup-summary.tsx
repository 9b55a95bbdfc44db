import type { ClientInfo } from '@palisade/contract/setup';
import { shownEmail } from '@palisade/contract/shown-email';
import { IconCircleCheck } from '@tabler/icons-react';
import { useEffect, useRef } from 'react';
import { Link } from 'react-router';
import type { Config } from '#api/config.ts';
import { BrandLogo } from '#ui/brand.tsx';
import { Button } from '#ui/button.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import type { Look } from './look-fields.tsx';

interface SetupSummaryProps {
  info: ClientInfo & Look;
  exposure: Config['exposure'];
  onEdit: () => void;
}

/** Shown without a promise of the provider. Local exposure shows the specification's text, marked as such. */
const NO_PROMISE: Record<Config['exposure'], string> = {
  local: 'Not given: “available 24/7” is shown, marked “Example”',
  public: 'Nothing is promised',
};

/** The saved values in place of the form. Its heading takes the form's focus. */
export function SetupSummary({ info, exposure, onEdit }: SetupSummaryProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <Stack as="section" gap="2" align="center" className="card centered" aria-labelledby="setup-complete">
      <span className="icon-tile below-1" data-size="l" aria-hidden="true">
        <IconCircleCheck size={32} stroke={1.7} />
      </span>
      <h2 className="title" id="setup-complete" ref={heading} tabIndex={-1}>
        Setup Complete
      </h2>
      <p className="sub">Every screen and email shows this from now on.</p>
      <dl className="setup-summary__facts full">
        <Grid columns="term" phone="stack" gap="4" rowGap="0" className="pad-row line-above base">
          <dt className="muted">Company Name</dt>
          <dd className="break">{info.company_name.trim()}</dd>
        </Grid>
        <Grid columns="term" phone="stack" gap="4" rowGap="0" className="pad-row line-above base">
          <dt className="muted">Support Phone</dt>
          <dd className="break">{info.support_phone.trim() || 'Not given, so not shown'}</dd>
        </Grid>
        <Grid columns="term" phone="stack" gap="4" rowGap="0" className="pad-row line-above base">
          <dt className="muted">Support Email</dt>
          <dd className="break">{shownEmail(info.support_email.trim()) || 'Not given, so not shown'}</dd>
        </Grid>
        <Grid columns="term" phone="stack" gap="4" rowGap="0" className="pad-row line-above base">
          <dt className="muted">Support Promise</dt>
          <dd className="break">{info.support_promise.trim() || NO_PROMISE[exposure]}</dd>
        </Grid>
        <Grid columns="term" phone="stack" gap="4" rowGap="0" className="pad-row line-above base">
          <dt className="muted">Logo</dt>
          <dd>
            {info.logo ? (
              <BrandLogo logo={info.logo} name={info.company_name.trim()} />
            ) : (
              'Not given: the product’s mark is shown'
            )}
          </dd>
        </Grid>
        <Grid columns="term" phone="stack" gap="4" rowGap="0" className="pad-row line-above base">
          <dt className="muted">Accent color</dt>
          <dd>{info.accent.trim() || 'The product’s own color'}</dd>
        </Grid>
      </dl>
      <Row gap="5" rowGap="2" justify="center">
        <Link to="/dashboard">Go to the dashboard</Link>
        <Button variant="quiet" onClick={onEdit}>
          Change details
        </Button>
      </Row>
    </Stack>
  );
}
