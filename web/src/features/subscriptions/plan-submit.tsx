import { Button, Spinner } from '#ui/button.tsx';

/** The form's own button. Disabled in word only: a button that is disabled while it has the focus loses it. */
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
