import { IconCheck, IconLock } from '@tabler/icons-react';
import { useNavigate } from 'react-router';
import { AskForPlan, useHasNoPlans } from '#domain/plan/plans.tsx';
import { Button } from '#ui/button.tsx';
import { Row, Stack } from '#ui/layout.tsx';
import { describeDate } from '#ui/moment.tsx';

const FEATURES = [
  'Alerts about what happened to your account and files',
  'A live feed of the latest threats',
  'A security check that shows what is open and how to close it',
  'Simulated alerts that show what a real one looks like',
];

/** Content without a premium plan. `message` is the server's refusal. */
export function LockedScreen({ message, requested_at }: { message: string | undefined; requested_at: string | undefined }) {
  const navigate = useNavigate();
  const canOnlyAsk = useHasNoPlans() && requested_at === undefined;
  return (
    <Stack as="section" gap="3" align="center" className="card glow centered" data-tone="good" aria-labelledby="locked">
      <span className="icon-tile" data-size="l" aria-hidden="true">
        <IconLock size={28} stroke={1.7} />
      </span>
      <h2 id="locked" className="title">
        Premium access required
      </h2>
      {message && (
        <p role="alert" className="medium red">
          {message}
        </p>
      )}
      <p className="sub">The anti-hacking monitor is part of the premium plans. With one you get:</p>
      <Stack as="ul" gap="2" className="base below-2 start">
        {FEATURES.map((feature) => (
          <Row as="li" wrap={false} gap="2" align="stretch" key={feature}>
            <IconCheck className="fixed accent" size={18} stroke={2} aria-hidden="true" />
            {feature}
          </Row>
        ))}
      </Stack>
      {requested_at !== undefined && <p>{`Requested on ${describeDate(requested_at)}. An administrator will answer.`}</p>}
      <Row gap="2" justify="center">
        {canOnlyAsk && <AskForPlan size="l" />}
        <Button size="l" variant={canOnlyAsk ? 'quiet' : 'primary'} onClick={() => navigate('/subscription-manager')}>
          {requested_at === undefined ? 'Upgrade' : 'See your request'}
        </Button>
      </Row>
      {requested_at === undefined && (
        <p className="small muted">
          {canOnlyAsk
            ? 'Your provider hasn’t published any plans yet. Our team can still give you one.'
            : 'Next you see what your provider offers. You don’t pay there.'}
        </p>
      )}
    </Stack>
  );
}
