-- One row is one trial whose prompt is not in its submission's suite.
select submission, running_order, prompt from trial where task is null;
