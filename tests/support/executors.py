"""An executor without processes: each job runs, or is lost, as it is handed over."""

from concurrent.futures import Future

from rfbench.experiment import children


class Lost(Exception):
    """A worker is gone."""


class Fake:
    """Runs jobs in this process.

    `lose` maps the number of a submission to what is done in its place: a call with the words of
    the submission, after which its worker is lost.
    """

    broken = (Lost,)

    def __init__(self, workers=1, lose=None):
        self.lose, self.jobs, self.ended = lose or {}, [], []
        self.count = workers

    def workers(self):
        return self.count

    def kill(self):
        self.ended.append("killed")

    def close(self):
        self.ended.append("closed")

    def submit(self, *args):
        future = Future()
        number = len(self.jobs)
        self.jobs.append(args[0])
        try:
            if number in self.lose:
                self.lose[number](*args)
                raise Lost("on purpose")
            future.set_result(children.do_job(*args))
        except Exception as error:
            future.set_exception(error)
        return future
