import { Button, Spinner } from '#ui/button.tsx';
import { Row } from '#ui/layout.tsx';

interface PlanSubmitProps {
  isBusy: boolean;
  label: string;
  busyLabel: string;
}

/** The submit button. Uses `aria-disabled`, because a disabled button loses the focus. */
export function PlanSubmit({ isBusy, label, busyLabel }: PlanSubmitProps) {
  return (
    <Row wrap={false} phone="fill" gap="3">
      <Button type="submit" size="l" aria-disabled={isBusy}>
        {isBusy ? busyLabel : label}
      </Button>
      {isBusy && <Spinner />}
    </Row>
  );
}
