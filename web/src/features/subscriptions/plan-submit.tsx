import { Button, Spinner } from '#ui/button.tsx';

/** The submit button. Uses `aria-disabled`, because a disabled button loses the focus. */
export function PlanSubmit({ isBusy, label, busyLabel }: { isBusy: boolean; label: string; busyLabel: string }) {
  return (
    <div className="plan-form__submit">
      <Button type="submit" size="l" aria-disabled={isBusy}>
        {isBusy ? busyLabel : label}
      </Button>
      {isBusy && <Spinner />}
    </div>
  );
}
