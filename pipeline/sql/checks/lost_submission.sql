-- One row is one accepted file that has no submission, or a submission without exactly one setup.
select document.file, count(setup.submission) as setups
from submission_document as document
left join submission using (file)
left join setup using (submission)
group by document.file
having count(setup.submission) <> 1;
