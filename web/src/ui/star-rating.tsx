import { Textarea } from '@mantine/core';
import { IconStar, IconStarFilled } from '@tabler/icons-react';
import { useId, useState } from 'react';
import { Button } from './button.tsx';
import { Form, Submit } from './form.tsx';
import { Refusal } from './refusal.tsx';
import './star-rating.css';

const WORDS = ['Very bad', 'Bad', 'All right', 'Good', 'Very good'];
/** Maximum length of a comment in characters, as in the contract. */
const COMMENT_LENGTH = 1_000;

interface StarRatingProps {
  legend: string;
  /** The earlier rating, 1 to 5; null for none. */
  given: number | null;
  rate: {
    mutate: (answer: { rating: number; comment: string }, options: { onSuccess: () => void }) => void;
    isPending: boolean;
    error: Error | null;
  };
}

/** Asks for a rating; a new rating replaces the earlier one. */
export function StarRating({ legend, given, rate }: StarRatingProps) {
  const name = useId();
  const [chosen, setChosen] = useState(given ?? 0);
  const [comment, setComment] = useState('');
  const [isOpen, setIsOpen] = useState(given === null);

  function submit() {
    rate.mutate({ rating: chosen, comment }, { onSuccess: () => setIsOpen(false) });
  }

  if (!isOpen)
    return (
      <div className="star-rating" role="status">
        <p>{`Thank you. You rated this help ${given ?? chosen} of 5 (${WORDS[(given ?? chosen) - 1]?.toLowerCase()}).`}</p>
        <Button variant="text" size="s" onClick={() => setIsOpen(true)}>
          Change the rating
        </Button>
      </div>
    );
  return (
    <Form className="star-rating" error={rate.error} busy={rate.isPending} onSubmit={submit}>
      <fieldset className="star-rating__stars">
        <legend>{legend}</legend>
        {WORDS.map((words, index) => {
          const value = index + 1;
          const Star = value <= chosen ? IconStarFilled : IconStar;
          return (
            <label key={words} title={words}>
              <input type="radio" name={name} checked={chosen === value} onChange={() => setChosen(value)} />
              <Star size={24} stroke={1.5} aria-hidden="true" />
              <span className="visually-hidden">{`${value} of 5: ${words}`}</span>
            </label>
          );
        })}
        <span className="star-rating__words muted" aria-hidden="true">
          {WORDS[chosen - 1]}
        </span>
      </fieldset>
      {chosen > 0 && (
        <div className="star-rating__line full">
          <Textarea
            className="growing"
            aria-label="What went well or was missing?"
            placeholder="What went well or was missing? (optional)"
            rows={1}
            maxLength={COMMENT_LENGTH}
            value={comment}
            onChange={(event) => setComment(event.currentTarget.value)}
          />
          <Submit>Send rating</Submit>
        </div>
      )}
      <Refusal error={rate.error} />
    </Form>
  );
}
